/**
 * The release record (protocol §3): the deadline of one authorisation, chosen just before its batch leaves and stored once,
 * before anything is signed. A restart signs under the same deadline or not at all.
 *
 * @module
 */
import { PoolError, parseWire, type ReleaseRecord, releaseRecordSchema } from '@pool/core';
import { computeDeadline } from '@pool/idempotency/engine';
import type { Batch } from '../job/plan-batch.ts';
import { releaseName } from '../job/record.ts';
import type { Run } from '../job/run.ts';
import { loadBatch } from './batch.ts';

/** Window of a batch authorisation: 60 minutes. A signer that requires a vote adds its time limit. */
export const defaultBatchDeadlineSeconds = 3600;

/** A batch with the deadline of its authorisation. Confidential. */
export type DatedBatch = Batch & { readonly deadline: number };

/** Undefined: this attempt was never released. */
export async function loadRelease(run: Run, batch: Batch): Promise<DatedBatch | undefined> {
  const text = await run.journal.getValue(releaseName);
  return text === undefined ? undefined : readRelease(text, batch);
}

/** The stored batch with its stored deadline. Undefined: one of them is not stored. */
export async function loadDated(run: Run): Promise<DatedBatch | undefined> {
  const batch = await loadBatch(run);
  return batch === undefined ? undefined : loadRelease(run, batch);
}

/** The stored deadline, or a new one that is stored now. Two writers end up with the same deadline. */
export async function ensureRelease(run: Run, batch: Batch): Promise<DatedBatch> {
  const stored = await loadRelease(run, batch);
  if (stored !== undefined) {
    return stored;
  }
  const nowSeconds = await run.retry(() => run.now());
  const { batchDeadlineSeconds, voteLimitSeconds } = run.deps;
  const windowSeconds = batchDeadlineSeconds + (run.funder.needsVote ? voteLimitSeconds : 0);
  return storeRelease(run, batch, computeDeadline(nowSeconds, windowSeconds));
}

/**
 * Stores the deadline of an authorisation if none is stored, and returns the stored one.
 * @param deadline - Unix seconds
 */
export async function storeRelease(run: Run, batch: Batch, deadline: number): Promise<DatedBatch> {
  const { manifestDigest } = batch.plan;
  await run.passFaultPoint('release.before-store');
  const record: ReleaseRecord = { manifestDigest, deadline };
  const winner = await run.journal.putOnce(releaseName, JSON.stringify(record));
  await run.passFaultPoint('release.after-store');
  return readRelease(winner, batch);
}

function readRelease(text: string, batch: Batch): DatedBatch {
  const stored: unknown = JSON.parse(text);
  const { manifestDigest, deadline } = parseWire(
    releaseRecordSchema,
    stored,
    'the stored release record',
  );
  if (manifestDigest !== batch.plan.manifestDigest) {
    throw new PoolError('job_unreadable', 'the stored release record is of another manifest');
  }
  return { ...batch, deadline };
}
