/**
 * The durable record of one disbursement: everything that a restarted agent needs to continue. Confidential: it holds
 * recipients and amounts. The job store keeps manifest and seed, and later the release record, beside it as values that
 * are written once (`manifestName`, `releaseName`).
 *
 * @module
 */
import type { PermitWire, SolidityProof } from '@pool/api';
import {
  type AllowanceState,
  canonicalDigest,
  type DisbursementJob,
  type DisbursementResult,
  type DisburseRequest,
  type ErrorBody,
  type FundManifest,
  fundManifestSchema,
  type Hex,
  type Hex32,
  type JobStage,
  type JobState,
  PoolError,
  parseHex32,
  parseWire,
  type SkippedRecipient,
} from '@pool/core';
import type { CheckedDisbursement, CheckedRecipient } from '../check/checks.ts';

/** An approval transaction of ours. Persisted signed, before it is sent. */
export type RecordedApproval = {
  /** Decimal base units; `0` takes an approval back. */
  readonly value: string;
  readonly rawTransaction: Hex;
  readonly txHash: Hex32;
  readonly nonce: number;
  readonly mined: boolean;
};

/** What is kept of a settlement on other terms (foreign-settlement.ts). */
export type ForeignSettlement = {
  readonly chain: string;
  /** As the platform spells it. */
  readonly funder: string;
  readonly batchNonce: Hex32;
  /** Unix seconds. */
  readonly deadline: number;
  /** By the platform's word. */
  readonly isSettled: boolean;
};

export type DisbursementRecord = {
  readonly version: 1;
  readonly employerId: string;
  readonly key: string;
  /** Of the request it was accepted from, for the log. */
  readonly requestId?: string;
  readonly chain: string;
  readonly tokenSymbol: string;
  /** SHA-256 of the canonical request body. */
  readonly requestDigest: Hex32;
  readonly recipients: readonly CheckedRecipient[];
  readonly skipped: readonly SkippedRecipient[];
  readonly stage?: JobStage;
  /** Seconds of work per stage so far, over all runs. */
  readonly stageSeconds: Readonly<Partial<Record<JobStage, number>>>;
  /** As a chain read saw it before proving. */
  readonly allowanceState?: AllowanceState;
  readonly proved?: {
    readonly eligibilityRoot: Hex32;
    readonly digest: Hex32;
    readonly proof: SolidityProof;
  };
  readonly signature?: Hex;
  readonly permit?: { readonly nonce: string; readonly wire: PermitWire };
  /** Newest last. */
  readonly approvals: readonly RecordedApproval[];
  /** Set before the authorisation first leaves this process: from here the late-landing rule holds. */
  readonly releasedAtMs?: number;
  /** Unix seconds: another authorisation under our nonce was seen that lives longer than ours. */
  readonly latestDeadline?: number;
  /** Settlements of this key on other terms that the platform has shown since the release. */
  readonly foreign?: readonly ForeignSettlement[];
  /** A final, reverted transaction that carried our batch. */
  readonly revert?: { readonly txHash: Hex32; readonly error: ErrorBody };
  /** Why the settlement was refused last: told should the authorisation die. */
  readonly lastRefusal?: ErrorBody;
  /** A wallet lost its place after the release; null once a fresh proof was possible again. */
  readonly lostPlace?: ErrorBody | null;
  /** Why the platform has nothing of this batch out; null once it has again. */
  readonly refusal?: ErrorBody | null;
  /** Why nothing can be done for the job with the settings of this agent; null once it can again. */
  readonly blocked?:
    | (ErrorBody & { /** When a cancellation was asked for. */ readonly isCancelled: boolean })
    | null;
  /** The funder's withdrawal of the authorisation. */
  readonly voidSignature?: Hex;
  readonly settlement?: {
    readonly txHash: Hex32;
    readonly blockNumber: number;
    /** Decimal; absent when the chain did not tell. */
    readonly gasUsed?: string;
  };
  /** What is left of an allowance that a paid job gave and did not use, and what to do about it. */
  readonly remainder?: string;
  readonly result?: DisbursementResult;
  readonly error?: ErrorBody;
};

/** Batch attempts: one per key, ever (docs/decisions/0006, §1). */
export const attempt = 1;

/** Name of the write-once value that holds manifest and seed. */
export const manifestName = `fund-manifest/${attempt}`;

/** Name of the write-once value that holds the release record: one for each attempt. */
export const releaseName = `fund-release/${attempt}`;

/** Name of the write-once value that says: this job is to be cancelled. */
export const cancellationName = 'cancellation';

/** The record of a freshly accepted job. */
export function createRecord(
  checked: CheckedDisbursement,
  employerId: string,
  key: string,
  requestId?: string,
): DisbursementRecord {
  return {
    version: 1,
    employerId,
    key,
    ...(requestId === undefined ? {} : { requestId }),
    chain: checked.context.key,
    tokenSymbol: checked.tokenSymbol,
    requestDigest: checked.requestDigest,
    recipients: checked.recipients,
    skipped: checked.skipped,
    stageSeconds: {},
    approvals: [],
  };
}

export function serializeRecord(record: DisbursementRecord): string {
  return JSON.stringify(record);
}

/** @throws PoolError `job_unreadable` for anything {@link serializeRecord} of this version did not write */
export function deserializeRecord(payload: string): DisbursementRecord {
  const value = parseStored(payload);
  if (typeof value !== 'object' || value === null || !('version' in value) || value.version !== 1) {
    throw new PoolError(
      'job_unreadable',
      'the job was stored by another version of the agent; run that version to finish it',
    );
  }
  // Written by this module, under a lease, into a store that only this agent writes.
  return upgradeRecord(value as StoredRecord);
}

/** A record as this version writes it, or as an earlier one did. */
type StoredRecord = DisbursementRecord | EarlierRecord;

/** Earlier versions stored the whole request, a second copy of every recipient. */
type EarlierRecord = Omit<DisbursementRecord, 'requestDigest'> & {
  readonly request: DisburseRequest;
};

/** Drops what this version does not store. The next write of the record removes it from the disk. */
function upgradeRecord(stored: StoredRecord): DisbursementRecord {
  if (!('request' in stored)) {
    return stored;
  }
  const { request, ...record } = stored;
  return { ...record, requestDigest: canonicalDigest(request) };
}

/** @throws PoolError `job_unreadable`; an error of the parser would quote the text */
function parseStored(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    throw new PoolError(
      'job_unreadable',
      'the stored job is damaged: it is not JSON; restore the job store from a backup',
    );
  }
}

/** Manifest and the seed everything random in the batch derives from. Secret. */
export type SeededManifest = { readonly manifest: FundManifest; readonly seed: Hex32 };

export function serializeManifest(seeded: SeededManifest): string {
  return JSON.stringify(seeded);
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

/** The job object of `GET /api/disburse/:key`. */
export function createJobView(state: JobState, record: DisbursementRecord): DisbursementJob {
  return {
    key: record.key,
    state,
    ...(state === 'submitted' && record.stage !== undefined ? { stage: record.stage } : {}),
    ...(state === 'done' && record.result !== undefined ? { result: record.result } : {}),
    ...(state === 'failed' && record.error !== undefined ? { error: record.error } : {}),
  };
}
