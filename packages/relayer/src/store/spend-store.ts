/**
 * Rows of spends: one per holder and Idempotency-Key at a time. The row and its sealed notes are written in one transaction before
 * anything is sent, as for settlements (settlement-store.ts).
 *
 * @module
 */
import type { SpendCallWire, SpendRecord, SpendRequest } from '@pool/api';
import { type Hex32, PoolError, parseHex, parseHex32 } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import type { HolderSpendCall } from '../chain/pool-chain.ts';
import {
  describeOutcome,
  noOutcome,
  type ReserveGas,
  type SpendRow,
  supersede,
} from './intents.ts';

/** What may differ between two posts of one spend: a fresh proof may be about newer roots. */
const renewed = [
  'noteRoot',
  'eligibilityRoot',
  'digest',
] as const satisfies (keyof SpendCallWire)[];

/** The current row of a key. */
export async function findSpend(
  db: PlatformDatabase,
  holder: string,
  key: string,
): Promise<SpendRow | undefined> {
  return await db
    .selectFrom('spends')
    .selectAll()
    .where('address', '=', holder)
    .where('key', '=', key)
    .where('superseded_at', 'is', null)
    .executeTakeFirst();
}

function parseStored(row: SpendRow): Omit<SpendRequest, 'sealedNotes'> {
  return JSON.parse(row.request) as Omit<SpendRequest, 'sealedNotes'>;
}

/** Nullifiers of all inputs. */
export function listNullifiers(row: SpendRow): readonly Hex32[] {
  return parseStored(row).spend.nullifiers;
}

/**
 * True when both are one spend under one signature. Two signatures of one operation would reveal the holder's key, so another
 * signature is another spend.
 */
export function isSameSpend(
  row: SpendRow,
  { chain, spend }: SpendRequest,
  sealedNotesHash: Hex32,
): boolean {
  return (
    row.chain === chain &&
    row.sealed_notes_hash === sealedNotesHash &&
    describeFixed(parseStored(row).spend) === describeFixed(spend)
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

/** The call that a row stands for, with its sealed notes. */
export async function readSpendCall(db: PlatformDatabase, row: SpendRow): Promise<HolderSpendCall> {
  const { spend, proof } = parseStored(row);
  const notes = await db
    .selectFrom('spend_notes')
    .select('sealed')
    .where('spend_id', '=', row.id)
    .orderBy('slot')
    .execute();
  return { spend, proof, sealedNotes: notes.map(({ sealed }) => parseHex(sealed)) };
}

/**
 * Stores a new spend with its sealed notes. `supersedes` names the dead row that holds the key.
 * @throws PoolError `idempotency_conflict` (409) when the key or the spend was taken meanwhile; as `reserve`
 */
export async function insertSpend(
  db: PlatformDatabase,
  owner: { readonly holder: string; readonly key: string },
  request: SpendRequest,
  facts: { readonly sealedNotesHash: Hex32; readonly nowMs: number; readonly supersedes?: number },
  reserve: ReserveGas,
): Promise<SpendRow> {
  const { chain, spend, sealedNotes, proof } = request;
  const { sealedNotesHash, nowMs, supersedes } = facts;
  const now = new Date(nowMs).toISOString();
  return await db.transaction().execute(async (trx) => {
    const gasReserved = await reserve(trx);
    if (supersedes !== undefined) {
      await supersede(trx, { kind: 'spend', id: supersedes }, now);
    }
    const row = await trx
      .insertInto('spends')
      .values({
        address: owner.holder,
        key: owner.key,
        chain,
        token: spend.token.toLowerCase(),
        withdraw_amount: spend.withdrawAmount,
        recipient: spend.recipient?.toLowerCase() ?? null,
        deadline: spend.deadline,
        out_root: spend.outRoot,
        first_nullifier: spend.nullifiers[0] ?? '',
        sealed_notes_hash: sealedNotesHash,
        request: JSON.stringify({ chain, spend, proof }),
        state: 'accepted',
        gas_reserved: gasReserved,
        ...noOutcome,
        superseded_at: null,
        created_at: now,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) {
      throw spendConflict();
    }
    await trx
      .insertInto('spend_notes')
      .values(
        sealedNotes.map(({ encryptionPublicKey, sealed }, slot) => ({
          spend_id: row.id,
          slot,
          commitment: spend.commitments[slot] ?? '',
          encryption_public_key: encryptionPublicKey,
          sealed,
        })),
      )
      .execute();
    return row;
  });
}

/** Retries a reverted row with a fresh proof of the same spend. @throws PoolError as `reserve` */
export async function reopenSpend(
  db: PlatformDatabase,
  id: number,
  { chain, spend, proof }: SpendRequest,
  reserve: ReserveGas,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const gasReserved = await reserve(trx);
    await trx
      .updateTable('spends')
      .set({
        state: 'accepted',
        request: JSON.stringify({ chain, spend, proof }),
        gas_reserved: gasReserved,
        ...noOutcome,
      })
      .where('id', '=', id)
      .where('state', '=', 'reverted')
      .where('notes_erased_at', 'is', null)
      .execute();
  });
}

/** The row in its wire format. */
export function describeSpend(row: SpendRow): SpendRecord {
  return {
    key: row.key,
    state: row.state,
    chain: row.chain,
    outRoot: parseHex32(row.out_root),
    deadline: Number(row.deadline),
    ...describeOutcome(row),
  };
}

export function spendConflict(): PoolError {
  return new PoolError(
    'idempotency_conflict',
    'this Idempotency-Key or this spend belongs to another spend, or to another signature of it, that may still land',
  );
}
