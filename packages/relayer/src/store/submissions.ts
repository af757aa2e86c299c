/**
 * What the relayer carries out: settlements of employers, and spends of holders. One table has both, with a kind: nonces,
 * replacements and outcomes are the same, and so are the writes here. Nobody withdraws a spend: it ends with its
 * deadline, or when one of its notes is spent. `on-chain.ts` has what a kind is on chain.
 *
 * A row and its sealed notes are written in one transaction before anything is sent, so nothing can land whose notes are lost
 * (docs/decisions/0007).
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises';
import type { Delivery, SettlementRequest, SpendRequest } from '@pool/api';
import {
  type ErrorBody,
  type PoolError,
  parseEncryptionPublicKey,
  parseHex,
  parseHex32,
} from '@pool/core';
import type { PlatformDatabase, PlatformTables } from '@pool/database';
import type { Receipt } from '@pool/evm-sender';
import type { Insertable, Selectable } from 'kysely';

type SubmissionTable = PlatformTables['submissions'];
export type SubmissionKind = SubmissionTable['kind'];
export type SubmissionRow = Selectable<SubmissionTable>;
export type NewSubmission = Insertable<SubmissionTable>;
export type RelayerTransaction = Selectable<PlatformTables['relayer_transactions']>;
export type SealedNotes = Delivery['sealedNotes'];

/** A final receipt of a reverted transaction, and the reason. */
type RevertFacts = {
  readonly txHash: string;
  readonly receipt: Receipt;
  readonly reason: ErrorBody;
};

/** Reserves gas for a row, in the transaction that stores it. @throws PoolError when none is left */
export type ReserveGas = (trx: PlatformDatabase) => Promise<number>;

/** The facts of a reverted transaction do not belong to the next attempt; relayer_transactions keeps them. */
export const noOutcome = {
  tx_hash: null,
  block_number: null,
  gas_used: null,
  error_code: null,
  error_message: null,
} as const;

/** False: the row has ended, or gave its key to another one. */
export function isUnfinished({
  state,
  superseded_at,
}: Pick<SubmissionRow, 'state' | 'superseded_at'>): boolean {
  return superseded_at === null && (state === 'accepted' || state === 'submitted');
}

/** True for the transaction that carries the submission out; false for a withdrawal or a freed nonce. */
export function isCall({ purpose }: RelayerTransaction): boolean {
  return purpose === 'fund' || purpose === 'spend';
}

/** The stored request of a settlement: everything but the sealed notes. */
export function parseSettlement({
  request,
}: SubmissionRow): Omit<SettlementRequest, 'sealedNotes'> {
  return JSON.parse(request) as Omit<SettlementRequest, 'sealedNotes'>;
}

/** The stored request of a spend: everything but the sealed notes. */
export function parseSpend({ request }: SubmissionRow): Omit<SpendRequest, 'sealedNotes'> {
  return JSON.parse(request) as Omit<SpendRequest, 'sealedNotes'>;
}

/**
 * The current row of a key.
 * @param owner - id of the employer, or address of the holder
 */
export async function findSubmission(
  db: PlatformDatabase,
  owner: string,
  key: string,
): Promise<SubmissionRow | undefined> {
  return await db
    .selectFrom('submissions')
    .selectAll()
    .where('owner', '=', owner)
    .where('key', '=', key)
    .where('superseded_at', 'is', null)
    .executeTakeFirst();
}

export async function selectSubmission(db: PlatformDatabase, id: number): Promise<SubmissionRow> {
  return await db
    .selectFrom('submissions')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

/** @throws PoolError `conflict` when the key, the batch or the spend has a row */
export async function insertRow(
  db: PlatformDatabase,
  values: NewSubmission,
  conflict: () => PoolError,
): Promise<SubmissionRow> {
  const row = await db
    .insertInto('submissions')
    .values(values)
    .onConflict((taken) => taken.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) {
    throw conflict();
  }
  return row;
}

/** A submission as it is stored. */
export type Submission = {
  readonly values: NewSubmission;
  readonly commitments: readonly string[];
  readonly sealedNotes: SealedNotes;
  readonly reserve: ReserveGas;
  /** What is thrown when the key, the batch or the spend was taken. */
  readonly conflict: () => PoolError;
};

/**
 * Stores a new attempt with its sealed notes. `supersedes` names the dead row that holds the key.
 * @throws PoolError as `conflict` and `reserve`
 */
export async function insertSubmission(
  db: PlatformDatabase,
  submission: Submission,
  supersedes?: number,
): Promise<SubmissionRow> {
  const { values, reserve, conflict } = submission;
  return await db.transaction().execute(async (trx) => {
    const gasReserved = await reserve(trx);
    if (supersedes !== undefined) {
      await trx
        .updateTable('submissions')
        .set({ superseded_at: values.created_at })
        .where('id', '=', supersedes)
        .where('state', '!=', 'settled')
        .execute();
    }
    const row = await insertRow(trx, { ...values, gas_reserved: gasReserved }, conflict);
    await insertSealedNotes(trx, row.id, submission);
    return row;
  });
}

/**
 * Stores what has passed all checks: a fresh proof for the standing row, or a new row. The rows may have changed meanwhile: both
 * writes apply only to the state that was read.
 * @param isSame - whether a row is this submission under the same signature
 */
export async function storeChecked(
  db: PlatformDatabase,
  submission: Submission,
  standing: SubmissionRow | undefined,
  isSame: (row: SubmissionRow) => boolean,
): Promise<SubmissionRow> {
  const { owner, key } = submission.values;
  if (standing !== undefined && isSame(standing)) {
    await reopen(db, standing.id, submission);
    return (await findSubmission(db, owner, key)) ?? standing;
  }
  try {
    return await insertSubmission(db, submission, standing?.id);
  } catch (error) {
    // Two posts of one key can meet here: the one whose insert fails is a replay.
    const winner = await findSubmission(db, owner, key);
    if (winner !== undefined && isSame(winner)) {
      return winner;
    }
    throw error;
  }
}

/**
 * Whether a reverted row may be tried again. A settlement that its funder withdrew is never retried, and nothing restores erased notes of
 * a spend, for whose labels its first post vouches.
 */
export function mayReopen(row: SubmissionRow): boolean {
  return (
    row.state === 'reverted' &&
    row.void_signature === null &&
    (row.kind === 'settlement' || row.notes_erased_at === null)
  );
}

/**
 * Retries a reverted row with a fresh proof, root, digest or permit under the same signature. Missing sealed notes are
 * stored again: nothing may land without them.
 */
async function reopen(db: PlatformDatabase, id: number, submission: Submission): Promise<void> {
  const { values, reserve } = submission;
  await db.transaction().execute(async (trx) => {
    const gasReserved = await reserve(trx);
    const reopened = await trx
      .updateTable('submissions')
      .set({
        state: 'accepted',
        request: values.request,
        notes_erased_at: null,
        ...noOutcome,
        gas_reserved: gasReserved,
      })
      .where('id', '=', id)
      .where('state', '=', 'reverted')
      .where('void_signature', 'is', null)
      .$if(values.kind === 'spend', (query) => query.where('notes_erased_at', 'is', null))
      .returning('id')
      .executeTakeFirst();
    if (reopened !== undefined && (await findSealedNotes(trx, id)).length === 0) {
      await insertSealedNotes(trx, id, submission);
    }
  });
}

/** The sealed notes of a row, in slot order. */
export async function findSealedNotes(db: PlatformDatabase, id: number): Promise<SealedNotes> {
  const notes = await db
    .selectFrom('sealed_notes')
    .select(['encryption_public_key', 'sealed'])
    .where('submission_id', '=', id)
    .orderBy('slot')
    .execute();
  return notes.map((note) => ({
    encryptionPublicKey: parseEncryptionPublicKey(note.encryption_public_key),
    sealed: parseHex(note.sealed),
  }));
}

/** Notes per statement. The embedded database works in the serving thread, so other requests run in between. */
const notesAtOnce = 64;

/** The sealed notes with their commitments. Fails when the row has notes. */
export async function insertSealedNotes(
  db: PlatformDatabase,
  id: number,
  { commitments, sealedNotes }: Pick<Submission, 'commitments' | 'sealedNotes'>,
): Promise<void> {
  const rows = sealedNotes.map(({ encryptionPublicKey, sealed }, slot) => ({
    submission_id: id,
    slot,
    commitment: commitments[slot] ?? '',
    encryption_public_key: encryptionPublicKey,
    sealed,
  }));
  for (let start = 0; start < rows.length; start += notesAtOnce) {
    await setImmediate();
    await db
      .insertInto('sealed_notes')
      .values(rows.slice(start, start + notesAtOnce))
      .execute();
  }
}

/**
 * In the transaction that stores signed bytes: nobody else changes the row meanwhile. It waits for a withdrawal that is being
 * stored. A later one finds the bytes.
 */
export async function lockSubmission(trx: PlatformDatabase, id: number) {
  return await trx
    .selectFrom('submissions')
    .select('void_signature')
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

/** For the first bytes: `accepted` becomes `submitted`. False: nothing may be sent. */
export async function claimSubmission(trx: PlatformDatabase, id: number): Promise<boolean> {
  const taken = await trx
    .updateTable('submissions')
    .set({ state: 'submitted' })
    .where('id', '=', id)
    .where('state', '=', 'accepted')
    .where('void_signature', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return taken !== undefined;
}

/** It can never land. */
export async function markEnded(
  db: PlatformDatabase,
  id: number,
  reason: ErrorBody,
): Promise<void> {
  await updateReverted(db, id, reason).execute();
}

/** Refused before anything could land. A settlement that its funder withdrew stays unfinished: its withdrawal must be sent. */
export async function markRefused(
  db: PlatformDatabase,
  id: number,
  reason: ErrorBody,
): Promise<void> {
  await updateReverted(db, id, reason).where('void_signature', 'is', null).execute();
}

/** Ends it with a reverted transaction, unless its authorisation is still valid and must still be withdrawn. */
export async function recordRevert(
  trx: PlatformDatabase,
  id: number,
  { txHash, receipt, reason }: RevertFacts,
): Promise<void> {
  await updateReverted(trx, id, reason)
    .set({
      tx_hash: txHash,
      block_number: receipt.blockNumber,
      gas_used: receipt.gasUsed.toString(),
    })
    .where('void_signature', 'is', null)
    .execute();
}

function updateReverted(db: PlatformDatabase, id: number, reason: ErrorBody) {
  return db
    .updateTable('submissions')
    .set({ state: 'reverted', error_code: reason.code, error_message: reason.message })
    .where('id', '=', id)
    .where('state', '!=', 'settled');
}

/** The outcome of a row in its wire format. */
export function describeOutcome(row: SubmissionRow) {
  return {
    key: row.key,
    state: row.state,
    chain: row.chain,
    ...(row.tx_hash === null ? {} : { txHash: parseHex32(row.tx_hash) }),
    ...(row.block_number === null ? {} : { blockNumber: row.block_number }),
    ...(row.gas_used === null ? {} : { gasUsed: row.gas_used }),
    ...(row.error_code === null || row.state !== 'reverted'
      ? {}
      : { error: { code: row.error_code, message: row.error_message ?? '' } }),
  };
}

/** Transactions of an account that may still be mined. */
export function queryOpen(db: PlatformDatabase, chain: string, sender: string) {
  return db
    .selectFrom('relayer_transactions')
    .where('chain', '=', chain)
    .where('sender', '=', sender)
    .where('state', '=', 'open');
}
