/**
 * The phase of a disbursement, computed from its record in one place. Every step that depends on how far a job is
 * switches on it.
 *
 *     accepted ──► proved ──► signed ──► released ──► completed | reverted | failed
 *                     └──────────┴────────────┴──► abandoned ──► completed | reverted | failed
 *
 * `abandoned`: the batch is given up, and its authorisation may still land until the chain shows that it is dead. Its signer needs a vote,
 * so the provider has the signature, or may make it later. Or the batch was released, and the platform refuses it for good.
 *
 * A job may end without passing the phases in between: its key may turn out to be paid by another agent, or the job
 * fails. `recovered` replaces `released` where the store was restored from a backup that is older than the signature.
 *
 * Two facts are not phases, because they can be true in several of them: that a cancellation was requested
 * (cancellation.ts), and that the settings of the agent do not fit the job (`blocked`).
 *
 * @module
 */
import { type DisbursementResult, type ErrorBody, type Hex, PoolError } from '@pool/core';
import type { DisbursementRecord, RecordedProof } from './disbursement-record.ts';

export type Phase =
  /** Nothing is proved. */
  | { readonly kind: 'accepted' }
  /** The proof is stored. Nothing is signed. */
  | { readonly kind: 'proved'; readonly proved: RecordedProof }
  /** The funder's authorisation is stored and has not left this process. An allowance may have been given. */
  | { readonly kind: 'signed'; readonly proved: RecordedProof; readonly signature: Hex }
  /** The authorisation may have left: only the chain can say that it is dead (protocol §8, "Late landing"). */
  | { readonly kind: 'released'; readonly proved: RecordedProof; readonly signature: Hex }
  /** The batch is given up, and its authorisation exists or may be made. This agent sends nothing but its withdrawal. */
  | { readonly kind: 'abandoned'; readonly error: ErrorBody }
  /** As `released`, but this store does not have the signature. Nothing can be sent again. */
  | { readonly kind: 'recovered' }
  /** The chain has paid the key. */
  | { readonly kind: 'completed'; readonly result: DisbursementResult }
  /** A transaction with the batch reverted, and the authorisation is dead. Nothing was paid. */
  | { readonly kind: 'reverted'; readonly result: DisbursementResult }
  /** Nothing of this job is or will be on chain. */
  | { readonly kind: 'failed'; readonly error: ErrorBody };

export type PhaseKind = Phase['kind'];

/**
 * The phases that may follow each phase. A job also stays in its phase while other facts of its record change. A write
 * with another change of phase is refused ({@link assertTransition}).
 */
export const transitions: Readonly<Record<PhaseKind, readonly PhaseKind[]>> = {
  accepted: ['proved', 'recovered', 'completed', 'failed'],
  proved: ['signed', 'abandoned', 'recovered', 'completed', 'failed'],
  signed: ['released', 'abandoned', 'completed', 'failed'],
  abandoned: ['completed', 'reverted', 'failed'],
  released: ['abandoned', 'completed', 'reverted', 'failed'],
  recovered: ['completed', 'reverted', 'failed'],
  completed: [],
  reverted: [],
  failed: [],
};

/** Facts that only an authorisation that may land can have. */
const afterRelease = [
  'latestDeadline',
  'revert',
  'lastRefusal',
  'eligibilityLoss',
  'refusal',
  'voidSignature',
] as const satisfies readonly (keyof DisbursementRecord)[];

/** Facts that exist only together with a result that says `completed`. */
const afterPayment = [
  'settlement',
  'remainder',
] as const satisfies readonly (keyof DisbursementRecord)[];

/** @throws PoolError `job_unreadable` for a combination of facts that no run can have written */
export function phaseOf(record: DisbursementRecord): Phase {
  const { result, error, abandoned, releasedAtMs, proved, signature } = record;
  if (result !== undefined && error !== undefined) {
    throw contradiction('it has a result and an error');
  }
  const isCompleted = result?.status === 'completed';
  const early = isCompleted ? undefined : findPresent(record, afterPayment);
  if (early !== undefined) {
    throw contradiction(`it has "${early}" and was not paid`);
  }
  if (result !== undefined) {
    return isCompleted ? { kind: 'completed', result } : { kind: 'reverted', result };
  }
  if (error !== undefined) {
    return { kind: 'failed', error };
  }
  if (signature !== undefined && proved === undefined) {
    throw contradiction('it has a signature and no proof');
  }
  if (abandoned !== undefined) {
    return readAbandoned(record, abandoned);
  }
  if (releasedAtMs !== undefined) {
    return proved === undefined || signature === undefined
      ? { kind: 'recovered' }
      : { kind: 'released', proved, signature };
  }
  const late = findPresent(record, afterRelease);
  if (late !== undefined) {
    throw contradiction(`it has "${late}" and was not released`);
  }
  if (proved !== undefined && signature !== undefined) {
    return { kind: 'signed', proved, signature };
  }
  // The allowance is given after the signature.
  if (record.permit !== undefined || record.approvals.length > 0) {
    throw contradiction('it has an allowance and no signature');
  }
  return proved === undefined ? { kind: 'accepted' } : { kind: 'proved', proved };
}

function readAbandoned(record: DisbursementRecord, error: ErrorBody): Phase {
  if (record.proved === undefined) {
    throw contradiction('its batch is given up and has no proof');
  }
  if (record.releasedAtMs !== undefined && record.signature === undefined) {
    throw contradiction('its batch is given up after its release and has no signature');
  }
  return { kind: 'abandoned', error };
}

/** True once the authorisation may be outside this process and the job has not ended. */
export function hasLeft({ kind }: Phase): boolean {
  return kind === 'released' || kind === 'recovered' || kind === 'abandoned';
}

/** @throws Error for a change of phase that {@link transitions} does not contain */
export function assertTransition(from: PhaseKind, to: PhaseKind): void {
  if (from !== to && !transitions[from].includes(to)) {
    throw new Error(`a job cannot go from ${from} to ${to}`);
  }
}

function findPresent<Name extends keyof DisbursementRecord>(
  record: DisbursementRecord,
  names: readonly Name[],
): Name | undefined {
  return names.find((name) => record[name] !== undefined);
}

function contradiction(what: string): PoolError {
  return new PoolError(
    'job_unreadable',
    `the stored job contradicts itself: ${what}; restore the job store from a backup`,
    { status: 500 },
  );
}
