/**
 * Rows of spends: one per holder and Idempotency-Key at a time.
 *
 * @module
 */
import type { SpendCallWire, SpendRecord, SpendRequest } from '@pool/api';
import { type Hex32, PoolError, parseHex32 } from '@pool/core';
import {
  describeOutcome,
  parseSpend,
  type ReserveGas,
  type Submission,
  type SubmissionRow,
} from './submissions.ts';

/** What may differ between two posts of one spend: a fresh proof may be about newer roots. */
const renewed = [
  'noteRoot',
  'eligibilityRoot',
  'digest',
] as const satisfies (keyof SpendCallWire)[];

/**
 * True when both are one spend under one signature. Two signatures of one operation would reveal the holder's key, so another
 * signature is another spend.
 */
export function isSameSpend(
  row: SubmissionRow,
  { chain, spend }: SpendRequest,
  sealedNotesHash: Hex32,
): boolean {
  return (
    row.chain === chain &&
    row.sealed_notes_hash === sealedNotesHash &&
    describeFixed(parseSpend(row).spend) === describeFixed(spend)
  );
}

function describeFixed(spend: SpendCallWire): string {
  const fixed = Object.entries(spend).filter(([name]) => !renewed.some((other) => other === name));
  return JSON.stringify(
    fixed
      .map(([name, value]) => [name, lower(value)])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  );
}

function lower(value: unknown): unknown {
  return typeof value === 'string' ? value.toLowerCase() : value;
}

/** A posted spend as it is stored. @param holder - address of its account */
export function describeNewSpend(
  { holder, key }: { readonly holder: string; readonly key: string },
  { chain, spend, sealedNotes, proof }: SpendRequest,
  sealedNotesHash: Hex32,
  nowMs: number,
  reserve: ReserveGas,
): Submission {
  return {
    values: {
      ...{ kind: 'spend', owner: holder, key, chain, state: 'accepted' },
      token: spend.token.toLowerCase(),
      deadline: spend.deadline,
      root: spend.outRoot,
      first_nullifier: spend.nullifiers[0] ?? '',
      sealed_notes_hash: sealedNotesHash,
      request: JSON.stringify({ chain, spend, proof }),
      created_at: new Date(nowMs).toISOString(),
    },
    ...{ commitments: spend.commitments, sealedNotes, reserve },
    conflict: spendConflict,
  };
}

/** The row in its wire format. */
export function describeSpend(row: SubmissionRow): SpendRecord {
  return {
    ...describeOutcome(row),
    outRoot: parseHex32(row.root),
    deadline: Number(row.deadline),
  };
}

export function spendConflict(): PoolError {
  return new PoolError(
    'idempotency_conflict',
    'this Idempotency-Key or this spend belongs to another spend, or to another signature of it, that may still land',
  );
}
