/**
 * The batch of a job (protocol §3), stored in two parts. Manifest and seed come before the proof. The release record, with the deadline of
 * the one authorisation, is chosen just before the batch leaves and stored before anything is signed: a restart signs under the same
 * deadline or not at all. What is stored is always used, so no key ever has two batches or two deadlines.
 *
 * @module
 */
import { type Delivery, edgeRoutes, type FundBatchWire, type SettlementRequest } from '@pool/api';
import {
  bytesToHex32,
  chooseBatchSize,
  type FundManifest,
  fieldToHex,
  PoolError,
  parseWire,
  releaseRecordSchema,
} from '@pool/core';
import { computeDeadline } from '@pool/idempotency/engine';
import type { SeededManifest } from '@pool/wallet';
import type { OpenPhase, RecordedProof } from '../job/phases.ts';
import {
  attempt,
  type Batch,
  type DisbursementRecord,
  deserializeManifest,
  manifestName,
  planBatch,
  releaseName,
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
  const stored = await loadBatch(run);
  if (stored !== undefined) {
    return stored;
  }
  const seeded = { manifest: createManifest(run), seed: bytesToHex32(run.deps.randomBytes(32)) };
  const points = { before: 'manifest.before-store', after: 'manifest.after-store' } as const;
  const text = await run.putOnce(manifestName, JSON.stringify(seeded), points);
  return buildBatch(run, deserializeManifest(text));
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

/**
 * The stored batch with its stored deadline.
 * @param batch - if the caller has built it
 * @returns undefined: one of them is not stored
 */
export async function loadDated(run: Run, batch?: Batch): Promise<DatedBatch | undefined> {
  const stored = batch ?? (await loadBatch(run));
  const text = await run.getValue(releaseName);
  return stored === undefined || text === undefined ? undefined : readRelease(text, stored);
}

/** The stored deadline, or a new one that is stored now. Two writers end up with the same deadline. */
export async function ensureRelease(run: Run, batch: Batch): Promise<DatedBatch> {
  const { batchDeadlineSeconds, voteLimitSeconds } = run.deps;
  const windowSeconds = batchDeadlineSeconds + (run.funder.needsVote ? voteLimitSeconds : 0);
  return (
    (await loadDated(run, batch)) ??
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

// The settlement in the form that the platform's relayer receives (ARCHITECTURE.md), and what the funder keeps of it after the erasure of
// its recipients (protocol §3): the sealed notes with the P of each slot, so that they can be delivered again. If the ciphertext of a note
// is lost, its money is lost. It holds no amount but the total.

/** A phase in which proof and signature are stored. */
type SignedPhase = Extract<OpenPhase, { readonly kind: 'signed' | 'released' }>;

/** Everything the relayer needs, and nothing that opens a note. */
export function createSettlementRequest(
  { record, deps }: Run,
  batch: DatedBatch,
  { proved, signature, permit }: SignedPhase,
): SettlementRequest {
  return {
    ...createDelivery(batch, proved),
    proof: proved.proof,
    funderSignature: signature,
    ...(permit === undefined ? {} : { permit: permit.wire }),
    bodyFingerprint: deps.fingerprints.compute(record.key, record.requestDigest),
  };
}

function createDelivery(batch: DatedBatch, proved: RecordedProof): Delivery {
  return {
    chain: batch.manifest.chain,
    batch: createBatchWire(batch, proved),
    sealedNotes: batch.plan.sealedNotes.map(({ encryptionPublicKey, sealed }) => ({
      encryptionPublicKey,
      sealed,
    })),
  };
}

/** The batch as the contract receives it. Nothing in it opens a note. */
export function createBatchWire(batch: DatedBatch, proved: RecordedProof): FundBatchWire {
  const { manifest, plan } = batch;
  return {
    funder: manifest.funder,
    token: manifest.token,
    total: plan.total.toString(),
    batchNonce: fieldToHex(plan.batchNonce),
    eligibilityRoot: proved.eligibilityRoot,
    batchRoot: batch.batchRoot,
    commitments: plan.commitments.map(fieldToHex),
    sealedNotesHash: plan.sealedNotesHash,
    digest: proved.digest,
    deadline: batch.deadline,
  };
}

/** Name of the write-once value beside the job. */
export const deliveryName = 'delivery/1';

/** Stores the delivery once. Called before the batch leaves, so no batch settles without one. */
export async function keepDelivery(run: Run, batch: DatedBatch): Promise<void> {
  const { phase } = run;
  // Otherwise the store was restored from before the signature. The run that released the batch stored its own delivery.
  if (phase.kind === 'signed' || phase.kind === 'released') {
    await run.putOnce(deliveryName, JSON.stringify(createDelivery(batch, phase.proved)));
  }
}

/** @throws PoolError `store_damaged` when it is not one that {@link keepDelivery} stored */
export function parseDelivery(text: string): Delivery {
  try {
    return parseWire(edgeRoutes.redeliverNotes.body, JSON.parse(text), 'the stored delivery');
  } catch {
    // The cause is omitted: an error of the parser quotes its input.
    throw new PoolError(
      'store_damaged',
      'the sealed notes in the job store are damaged; restore the job store from a backup and run the command again',
    );
  }
}

/** Whether a job put notes on chain. The sealed notes of other jobs are not needed. */
export function hasNotesOnChain({ phase }: DisbursementRecord): boolean {
  return phase.kind === 'completed';
}
