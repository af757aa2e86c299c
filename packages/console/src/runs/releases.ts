/**
 * What waits for its release by people, as "disburse-agent release list" reads it: from the job store and the log each time.
 *
 * @module
 */
import { listPreparedBatches, type PreparedBatchView } from '@pool/operations';
import type { Payer } from '@pool/pay-run';
import type { ConsoleDeps } from '../access/ports.ts';

/** Oldest first. */
export async function listWaiting(
  { store, policy, log }: NonNullable<ConsoleDeps['releases']>,
  payer: Pick<Payer, 'readChains'>,
): Promise<readonly PreparedBatchView[]> {
  const releases = { policy, log };
  return await listPreparedBatches({
    ...{ store, releases, chains: payer.readChains(), nowMs: Date.now() },
  });
}
