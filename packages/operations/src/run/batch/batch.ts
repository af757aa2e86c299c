/**
 * The batch of a job (protocol §3), stored in two parts. Manifest and seed come before the proof. The release record, with the deadline of
 * the one authorisation, is chosen just before the batch leaves and stored before anything is signed: a restart signs under the same
 * deadline or not at all. What is stored is always used, so no key ever has two batches or two deadlines.
 *
 * @module
 */
import {
  bytesToHex32,
  chooseBatchSize,
  type FundManifest,
  PoolError,
  parseWire,
  releaseRecordSchema,
} from '@pool/core';
import { computeDeadline } from '@pool/idempotency/engine';
import type { SeededManifest } from '@pool/wallet';
import {
  attempt,
  type Batch,
  deserializeManifest,
  manifestName,
  planBatch,
  releaseName,
  serializeManifest,
} from '../job/record.ts';
import type { Run } from '../job/run.ts';

/** Window of a batch authorisation: 60 minutes. A signer that requires a vote adds its time limit. */
export const defaultBatchDeadlineSeconds = 3600;

/** A batch with the deadline of its authorisation, Unix seconds. Confidential. */
export type DatedBatch = Batch & { readonly deadline: number };

/** The stored manifest, whatever the settings are now. */
export async function loadManifest(run: Run): Promise<SeededManifest | undefined> {
  const text = await run.getValue(manifestName);
  return text === undefined ? undefined : deserializeManifest(text);
}

/**
 * The stored batch. Built once per run, because a batch of 256 takes a second; its manifest never changes.
 * @returns undefined: no manifest is stored yet
 */
export async function loadBatch(run: Run): Promise<Batch | undefined> {
  const seeded = run.batch === undefined ? await loadManifest(run) : undefined;
  return seeded === undefined ? run.batch : buildBatch(run, seeded);
}

/** The stored batch, or a new one that is stored now. Two writers end up with the same batch. */
export async function ensureBatch(run: Run): Promise<Batch> {
  return (await loadBatch(run)) ?? buildBatch(run, await storeManifest(run));
}

async function storeManifest(run: Run): Promise<SeededManifest> {
  const seeded = { manifest: createManifest(run), seed: bytesToHex32(run.deps.randomBytes(32)) };
  const points = { before: 'manifest.before-store', after: 'manifest.after-store' } as const;
  return deserializeManifest(await run.putOnce(manifestName, serializeManifest(seeded), points));
}

function createManifest(run: Run): FundManifest {
  const { settings, key: chain } = run.context;
  const { employerId, key: jobKey, recipients } = run.record;
  const size = chooseBatchSize(recipients.length);
  if (size === undefined) {
    throw new PoolError('batch-too-large', 'no circuit holds this many recipients');
  }
  return {
    ...{ version: 1, kind: 'fund', employerId, jobKey, attempt, chain, size },
    chainId: settings.chainId,
    pool: settings.pool,
    token: run.token,
    funder: run.funder.address,
    recipients: recipients.map(({ requestIndex: _position, ...recipient }) => recipient),
  };
}

async function buildBatch(run: Run, seeded: SeededManifest): Promise<Batch> {
  if (listDifferences(run, seeded.manifest).length > 0) {
    throw new PoolError(
      'configuration_changed',
      'funder, pool, token or chain id were configured differently when this job began; restore them to finish it',
    );
  }
  run.batch = await planBatch(seeded, run.pace);
  return run.batch;
}

/** What the settings have that a manifest has not, one sentence each. */
export function listDifferences(run: Run, manifest: FundManifest): readonly string[] {
  const { settings, key } = run.context;
  const differences: [string, string, string][] = [
    ['funder', manifest.funder, run.funder.address],
    [`pool of chain ${key}`, manifest.pool, settings.pool],
    [`token ${run.record.tokenSymbol}`, manifest.token, run.token],
    [`chain id of ${key}`, String(manifest.chainId), String(settings.chainId)],
  ];
  return differences
    .filter(([, then, now]) => then !== now)
    .map(([what, then, now]) => `the ${what} was ${then} and is ${now}`);
}

/** Undefined: this attempt was never released. */
export async function loadRelease(run: Run, batch: Batch): Promise<DatedBatch | undefined> {
  const text = await run.getValue(releaseName);
  return text === undefined ? undefined : readRelease(text, batch);
}

/** The stored batch with its stored deadline. Undefined: one of them is not stored. */
export async function loadDated(run: Run): Promise<DatedBatch | undefined> {
  const batch = await loadBatch(run);
  return batch === undefined ? undefined : loadRelease(run, batch);
}

/** The stored deadline, or a new one that is stored now. Two writers end up with the same deadline. */
export async function ensureRelease(run: Run, batch: Batch): Promise<DatedBatch> {
  const { batchDeadlineSeconds, voteLimitSeconds } = run.deps;
  const windowSeconds = batchDeadlineSeconds + (run.funder.needsVote ? voteLimitSeconds : 0);
  return (
    (await loadRelease(run, batch)) ??
    storeRelease(run, batch, computeDeadline(await run.retry(run.now), windowSeconds))
  );
}

/**
 * Stores the deadline of an authorisation if none is stored, and returns the stored one.
 * @param deadline - Unix seconds
 */
export async function storeRelease(run: Run, batch: Batch, deadline: number): Promise<DatedBatch> {
  const text = JSON.stringify({ manifestDigest: batch.plan.manifestDigest, deadline });
  const points = { before: 'release.before-store', after: 'release.after-store' } as const;
  return readRelease(await run.putOnce(releaseName, text, points), batch);
}

function readRelease(text: string, batch: Batch): DatedBatch {
  const stored = parseWire(releaseRecordSchema, JSON.parse(text), 'the stored release record');
  if (stored.manifestDigest !== batch.plan.manifestDigest) {
    throw new PoolError('job_unreadable', 'the stored release record is of another manifest');
  }
  return { ...batch, deadline: stored.deadline };
}
