/**
 * The durable record of one disbursement: everything that a restarted agent needs to continue. Confidential: it holds
 * recipients and amounts. The job store keeps manifest and seed, and later the release record, beside it as values that
 * are written once (`manifestName`, `releaseName`).
 *
 * @module
 */
import {
  type AllowanceState,
  computeBatchNonce,
  type DisbursementJob,
  type ErrorBody,
  fieldToHex,
  fundManifestSchema,
  type Hex32,
  hexToBytes,
  type JobStage,
  type JobState,
  PoolError,
  parseHex32,
  parseWire,
  type SkippedRecipient,
} from '@pool/core';
import { readPhase } from '@pool/idempotency/engine';
import { type FundBatchPlan, stepFundBatch } from '@pool/notes';
import { computeInTurns, type Pace, type SeededManifest } from '@pool/wallet';
import type { CheckedDisbursement, CheckedRecipient } from '../../check/checks.ts';
import type { ChainContext, FunderPort } from '../../ports.ts';
import { disbursementPhases, type Phase } from './phases.ts';

/** The stored data of a settlement on other terms (decide-settlement.ts). */
export type ForeignSettlement = {
  readonly chain: string;
  /** In the platform's spelling. */
  readonly funder: string;
  readonly batchNonce: Hex32;
  /** Unix seconds. */
  readonly deadline: number;
  /** According to the platform. */
  readonly isSettled: boolean;
};

export type DisbursementRecord = {
  readonly employerId: string;
  readonly key: string;
  /** Id of the request that created the job, for the log. */
  readonly requestId: string | undefined;
  /** Credential of that request: `loopback`, or `api-key:7`. Absent: an earlier version accepted the job. */
  readonly preparedBy?: string | undefined;
  readonly chain: string;
  readonly tokenSymbol: string;
  /** SHA-256 of the canonical request body. */
  readonly requestDigest: Hex32;
  readonly recipients: readonly CheckedRecipient[];
  readonly skipped: readonly SkippedRecipient[];
  /** What the job does, or waits for. Undefined before its first run, and after its end. */
  readonly stage: JobStage | undefined;
  /** Seconds of work per stage so far, over all runs. */
  readonly stageSeconds: Readonly<Partial<Record<JobStage, number>>>;
  /** When the job came one step further: its phase changed, or people did what it waited for. Absent: not yet, or an earlier version. */
  readonly movedAtMs?: number | undefined;
  /** The allowance as read before proving. */
  readonly allowanceState: AllowanceState | undefined;
  /** Settlements of this key on other terms that the platform has shown. */
  readonly foreign: readonly ForeignSettlement[];
  /** Why nothing can be done for the job with the current settings, in whatever phase it is. */
  readonly blocked: (ErrorBody & { readonly isCancelled: boolean }) | undefined;
  readonly phase: Phase;
};

/** Batch attempts: one per key, ever (docs/decisions/0007). */
export const attempt = 1;

/** Name of the write-once value that holds manifest and seed. */
export const manifestName = `fund-manifest/${attempt}`;

/** Name of the write-once value that holds the release record: one for each attempt. */
export const releaseName = `fund-release/${attempt}`;

/**
 * Name of the write-once value that records a cancellation request. Nothing is signed for a cancellation before the request is on disk.
 *
 * - If nothing has left, the job fails with `cancelled`.
 * - If the authorisation is out, its funder withdraws it (`voidBatch`), and the job waits for the chain.
 */
export { cancellationName } from '@pool/idempotency/engine';

/** The stored text. @param nowMs - when the cancellation was requested. @param by - credential of the request */
export function serializeCancellation(nowMs: number, by: string): string {
  return JSON.stringify({ askedAtMs: nowMs, by });
}

/** The record of a freshly accepted job. */
export function createRecord(
  checked: CheckedDisbursement,
  employerId: string,
  key: string,
  { requestId, preparedBy }: { readonly requestId?: string; readonly preparedBy?: string } = {},
): DisbursementRecord {
  return {
    employerId,
    key,
    requestId,
    preparedBy,
    chain: checked.context.key,
    tokenSymbol: checked.tokenSymbol,
    requestDigest: checked.requestDigest,
    recipients: checked.recipients,
    skipped: checked.skipped,
    stage: undefined,
    stageSeconds: {},
    allowanceState: undefined,
    foreign: [],
    blocked: undefined,
    phase: { kind: 'accepted' },
  };
}

export function serializeRecord(record: DisbursementRecord): string {
  return JSON.stringify(record);
}

/**
 * @throws PoolError `job_unreadable` for a text that {@link serializeRecord} did not write, and for a record that contradicts itself
 */
export function deserializeRecord(payload: string): DisbursementRecord {
  let record: DisbursementRecord;
  try {
    // Written by this module, under a lease, into a store that only this agent writes.
    record = JSON.parse(payload) as DisbursementRecord;
  } catch {
    // An error of the parser would quote the text.
    throw unreadable('is damaged: it is not JSON');
  }
  try {
    readPhase<Phase>(disbursementPhases, record?.phase);
  } catch (error) {
    throw unreadable(`contradicts itself: ${error instanceof Error ? error.message : 'unknown'}`);
  }
  return record;
}

function unreadable(what: string): PoolError {
  return new PoolError(
    'job_unreadable',
    `the stored job ${what}; restore the job store from a backup`,
    { status: 500 },
  );
}

export function deserializeManifest(text: string): SeededManifest {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || !('manifest' in value) || !('seed' in value)) {
    throw new PoolError('job_unreadable', 'the stored manifest is incomplete');
  }
  return {
    manifest: parseWire(fundManifestSchema, value.manifest, 'the stored manifest'),
    seed: parseHex32(value.seed),
  };
}

/** The nonce under which the contract pays this job once, for any caller (protocol §3). It binds chain, pool and funder. */
export function computeJobNonce(
  base: {
    readonly context: { readonly settings: Pick<ChainContext['settings'], 'chainId' | 'pool'> };
    readonly funder: Pick<FunderPort, 'address'>;
  },
  employerId: string,
  jobKey: string,
): Hex32 {
  const { chainId, pool } = base.context.settings;
  const funder = base.funder.address;
  return fieldToHex(computeBatchNonce({ employerId, chainId, pool, funder, jobKey, attempt }));
}

/** A stored manifest with its seed, and the batch that follows from them (protocol §3), whatever the settings are. Confidential. */
export type Batch = SeededManifest & { readonly plan: FundBatchPlan; readonly batchRoot: Hex32 };

/** Takes about a second for 256 slots. @param pace - awaited after each slot */
export async function planBatch(seeded: SeededManifest, pace: Pace): Promise<Batch> {
  const { manifest, seed } = seeded;
  const plan = await computeInTurns(stepFundBatch(manifest, hexToBytes(seed, 32)), pace);
  return { ...seeded, plan, batchRoot: fieldToHex(plan.batchRoot) };
}

/** The job object of `GET /api/disburse/:key`. @throws PoolError `job_unreadable` for an ended job without its outcome */
export function createJobView(
  state: JobState,
  { key, stage, phase }: DisbursementRecord,
): DisbursementJob {
  switch (state) {
    case 'accepted':
      return { key, state };
    case 'submitted':
      return { key, state, ...(stage === undefined ? {} : { stage }) };
    case 'done':
    case 'failed':
      if (state === 'done' && 'result' in phase) {
        return { key, state, result: phase.result };
      }
      if (state === 'failed' && phase.kind === 'failed') {
        return { key, state, error: phase.error };
      }
      throw unreadable('has ended without an outcome');
  }
}
