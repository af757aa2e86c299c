/**
 * Retention (docs/decisions/0009): some days after a job ended, who was paid and the seed of its
 * batch are erased. Name, fingerprint and result stay, so that the key stays used and the answer readable.
 *
 * @module
 */
import type { JobStore } from '@pool/idempotency';
import { deliveryName, hasNotesOnChain } from './delivery.ts';
import { giveWay } from './give-way.ts';
import { deserializeRecord, manifestName, releaseName, serializeRecord } from './record.ts';

/** Jobs erased at one go. */
const batchLimit = 100;

const dayMs = 86_400_000;

/** @returns how many jobs were erased; call again while it is not 0 */
export async function eraseExpired(
  store: JobStore,
  retentionDays: number,
  nowMs: number,
): Promise<number> {
  const expired = await store.listErasable({
    states: ['done', 'failed'],
    updatedBeforeMs: nowMs - retentionDays * dayMs,
    limit: batchLimit,
  });
  for (const job of expired) {
    const {
      proved: _proof,
      signature: _signature,
      permit: _permit,
      ...record
    } = deserializeRecord(job.payload);
    // The sealed notes of a paid batch stay: whoever was paid may need them once more (docs/decisions/0026).
    const delivery = hasNotesOnChain(job.state, record) ? [] : [deliveryName];
    const kept = {
      ...record,
      recipients: [],
      // Whoever was skipped stands in the result, if there is one.
      skipped: [],
      request: { ...record.request, recipients: [] },
      approvals: [],
    };
    await store.erase({
      scope: job.scope,
      key: job.key,
      // The digest of the manifest, too: whoever knows the recipients could try amounts against it.
      names: [manifestName, releaseName, ...delivery],
      payload: serializeRecord(kept),
    });
    // Each is waited for until it is on disk, on the thread that serves the routes.
    await giveWay();
  }
  return expired.length;
}
