/**
 * Rows of spends: one per holder and Idempotency-Key at a time.
 *
 * @module
 */
import type { SpendCallWire, SpendRecord, SpendRequest } from '@pool/api';
import { type Hex32, PoolError, parseHex32 } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import {
  describeOutcome,
  parseSpend,
  type ReserveGas,
  type Submission,
  type SubmissionRow,
} from './submissions.ts';

// The labels of a spend's notes: for whom each is sealed. The sealed notes are bound by the hash that the contract checks, the labels
// by nothing. So the platform serves notes by their labels only while nobody else may have written them, and to everybody
// otherwise: whoever has the key opens them (docs/decisions/0011).

/** Whether another post of a stored spend names other keys than the first. */
export async function areLabelsOther(
  db: PlatformDatabase,
  id: number,
  sealedNotes: SpendRequest['sealedNotes'],
): Promise<boolean> {
  const stored = await db
    .selectFrom('sealed_notes')
    .select(['slot', 'encryption_public_key'])
    .where('submission_id', '=', id)
    .execute();
  return stored.some(
    ({ slot, encryption_public_key }) =>
      sealedNotes[slot]?.encryptionPublicKey !== encryption_public_key,
  );
}

/**
 * Two accounts posted one spend, with a valid proof and other labels: once it lands, its notes are served to everybody. The first labels
 * stay. It changes nothing of a spend that settled meanwhile.
 */
export async function disputeLabels(
  db: PlatformDatabase,
  id: number,
  nowMs: number,
): Promise<void> {
  await db
    .updateTable('submissions')
    .set({ labels_disputed_at: new Date(nowMs).toISOString() })
    .where('id', '=', id)
    .where('state', '!=', 'settled')
    .execute();
}

/**
 * Whether the labels of a landed spend may be another's. Before it is sent, only its holder knows a spend. So the labels are the
 * holder's if this platform's relayer sent the transaction that landed, and nobody posted others.
 */
export async function areLabelsOpen(
  db: PlatformDatabase,
  spendId: number,
  txHash: string,
): Promise<boolean> {
  const { labels_disputed_at } = await db
    .selectFrom('submissions')
    .select('labels_disputed_at')
    .where('id', '=', spendId)
    // A dispute that is stored at this moment must not be missed.
    .forUpdate()
    .executeTakeFirstOrThrow();
  const ours = await db
    .selectFrom('relayer_transactions')
    .select('id')
    .where('submission_id', '=', spendId)
    .where('tx_hash', '=', txHash)
    .executeTakeFirst();
  return labels_disputed_at !== null || ours === undefined;
}

/** Appends the notes of a leaf to the stream that everybody reads. @param token - lower case; null: not known */
export async function openLeaf(
  trx: PlatformDatabase,
  leaf: { readonly chain: string; readonly leafIndex: number; readonly token: string | null },
): Promise<void> {
  await trx
    .insertInto('open_leaves')
    .values({ chain: leaf.chain, leaf_index: leaf.leafIndex, token: leaf.token })
    .onConflict((conflict) => conflict.columns(['chain', 'leaf_index']).doNothing())
    .execute();
}

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
