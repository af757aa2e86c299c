/**
 * What a funder keeps of a batch after the erasure of its recipients (protocol §3): the sealed notes with the P of each
 * slot, so that they can be delivered again. If the ciphertext of a note is lost, its money is lost. It holds no amount but the
 * total.
 *
 * @module
 */
import { type Delivery, deliverySchema } from '@pool/api';
import { PoolError, parseWire } from '@pool/core';
import type { DisbursementRecord } from '../job/record.ts';
import type { Run } from '../job/run.ts';
import type { DatedBatch } from './release-record.ts';
import { createSettlementRequest } from './settlement-request.ts';

/** Name of the write-once value beside the job. */
export const deliveryName = 'delivery/1';

/** Stores the delivery once. Called before the batch leaves, so no batch settles without one. */
export async function keepDelivery(run: Run, batch: DatedBatch): Promise<void> {
  const phase = run.phase();
  if (phase.kind !== 'signed' && phase.kind !== 'released') {
    // The store was restored from before the signature. The run that released the batch stored its own delivery.
    return;
  }
  const {
    chain,
    batch: wire,
    sealedNotes,
  } = createSettlementRequest(batch, phase, run.record(), run.deps.fingerprints);
  const delivery: Delivery = { chain, batch: wire, sealedNotes };
  await run.journal.putOnce(deliveryName, JSON.stringify(delivery));
}

/** @throws PoolError `store_damaged` when it is not one that {@link keepDelivery} stored */
export function parseDelivery(text: string): Delivery {
  try {
    return parseWire(deliverySchema, JSON.parse(text), 'the stored delivery');
  } catch {
    // The cause is omitted: an error of the parser quotes its input.
    throw new PoolError(
      'store_damaged',
      'the sealed notes in the job store are damaged; restore the job store from a backup and run the command again',
    );
  }
}

/** Whether a job that ended put notes on chain. The sealed notes of other jobs are not needed. */
export function hasNotesOnChain(state: string, { result }: DisbursementRecord): boolean {
  return state === 'done' && result?.status === 'completed';
}
