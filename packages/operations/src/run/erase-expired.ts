/**
 * Retention (docs/decisions/0009, §17): some days after a job ended, who was paid and the seed of its
 * batch are erased. Name, fingerprint and result stay, so that the key stays used and the answer readable.
 *
 * @module
 */
import { errorCodeOf } from '@pool/core';
import type { EraseInput, JobStore, StoredJob } from '@pool/idempotency';
import { giveWay } from '../give-way.ts';
import { deliveryName, hasNotesOnChain } from './delivery.ts';
import { deserializeRecord, manifestName, releaseName, serializeRecord } from './record.ts';

/** Jobs erased at one go. */
const batchLimit = 100;

/** Errors of the store as a whole. */
const storeOutages: readonly string[] = ['store_busy', 'store_closed'];

const dayMs = 86_400_000;

/** A job that could not be erased. Its data are still there. */
export type ErasureFailure = {
  readonly scope: string;
  readonly key: string;
  readonly code: string;
};

export type ErasurePass = {
  readonly erased: number;
  readonly failed: readonly ErasureFailure[];
};

/**
 * Erases every job whose days are over. Each is tried once: one that cannot be erased is passed over and named.
 * @throws StoreError when the store does not answer, which says nothing about a job
 */
export async function eraseExpired(
  store: JobStore,
  retentionDays: number,
  nowMs: number,
): Promise<ErasurePass> {
  const failed: ErasureFailure[] = [];
  let erased = 0;
  for (;;) {
    const expired = await store.listErasable({
      states: ['done', 'failed'],
      updatedBeforeMs: nowMs - retentionDays * dayMs,
      // What failed in this pass is still there, and before everything that was not tried.
      skip: failed.length,
      limit: batchLimit,
    });
    if (expired.length === 0) {
      return { erased, failed };
    }
    for (const job of expired) {
      const { scope, key } = job;
      const code = await eraseJob(store, job);
      if (code === undefined) {
        erased += 1;
      } else {
        failed.push({ scope, key, code });
      }
      // Each is waited for until it is on disk, on the thread that serves the routes.
      await giveWay();
    }
  }
}

/** @returns why it could not be erased; undefined: it was */
async function eraseJob(store: JobStore, job: StoredJob): Promise<string | undefined> {
  try {
    await store.erase(decideErasure(job));
    return undefined;
  } catch (error) {
    const code = errorCodeOf(error) ?? 'internal_error';
    if (storeOutages.includes(code)) {
      throw error;
    }
    return code;
  }
}

/** @throws PoolError `job_unreadable` */
function decideErasure(job: StoredJob): EraseInput {
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
  return {
    scope: job.scope,
    key: job.key,
    // The digest of the manifest, too: whoever knows the recipients could try amounts against it.
    names: [manifestName, releaseName, ...delivery],
    payload: serializeRecord(kept),
  };
}
