/**
 * Sealed notes for a holder (protocol §3): those addressed to the subject's registered P, in batches and spends that are final on
 * chain, in the order of the note tree. Also all notes of spends for whose labels nobody vouches: the holder tries its key on them
 * (docs/decisions/0056, §6).
 *
 * @module
 */
import type { NotesResponse } from '@pool/api';
import { PoolError, parseHex, parseHex32 } from '@pool/core';
import { type SelectQueryBuilder, sql } from 'kysely';
import type { PlatformDatabase } from '../database/platform-tables.ts';
import { assertIndexRight } from './served-batches.ts';

export type NotesQuery = {
  readonly chain: string;
  readonly tokenSymbol: string;
  readonly tokenAddress: string;
  readonly encryptionPublicKey: string;
  readonly cursor: string | undefined;
};

const pageSize = 200;

/** @throws PoolError `notes_unavailable` (503) after the indexer halted on a wrong tree, `invalid_request` */
export async function listServedNotes(
  db: PlatformDatabase,
  query: NotesQuery,
): Promise<NotesResponse> {
  await assertIndexRight(db, query.chain);
  const after = parseCursor(query.cursor);
  const isBehind = sql<boolean>`(b.leaf_index, n.slot) > (${after.batchIndex}, ${after.slot})`;
  const rows = [
    ...(await inOrder(ofBatches(db, query).select(columns).where(isBehind)).execute()),
    ...(await inOrder(ofSpends(db, query, 'own').select(columns).where(isBehind)).execute()),
    ...(await inOrder(ofSpends(db, query, 'open').select(columns).where(isBehind)).execute()),
    ...(await inOrder(ofCalldata(db, query).select(columns).where(isBehind)).execute()),
  ].sort((one, other) => one.batchIndex - other.batchIndex || one.slot - other.slot);
  const page = rows.slice(0, pageSize);
  const before = query.cursor === undefined ? undefined : await countUpTo(db, query, after);
  const last = page.at(-1);
  return {
    notes: page.map((row) => ({
      commitment: parseHex32(row.commitment),
      sealed: parseHex(row.sealed),
      chain: query.chain,
      token: query.tokenSymbol,
      batchIndex: row.batchIndex,
      slot: row.slot,
      txHash: parseHex32(row.txHash),
    })),
    ...(before === undefined ? {} : { before }),
    ...(rows.length > pageSize && last !== undefined
      ? { cursor: `${last.batchIndex}.${last.slot}` }
      : {}),
  };
}

type Position = { readonly batchIndex: number; readonly slot: number };

const columns = [
  'n.commitment as commitment',
  'n.sealed as sealed',
  'n.slot as slot',
  'b.leaf_index as batchIndex',
  'b.tx_hash as txHash',
] as const;

/** The first notes of a page, in the order of the note tree. */
function inOrder<DB, TB extends keyof DB, O>(notes: SelectQueryBuilder<DB, TB, O>) {
  return notes
    .orderBy(sql`b.leaf_index`)
    .orderBy(sql`n.slot`)
    .limit(pageSize + 1);
}

/** Of batches that funders paid. */
function ofBatches(db: PlatformDatabase, query: NotesQuery) {
  return db
    .selectFrom('sealed_notes as n')
    .innerJoin('batches as b', 'b.settlement_id', 'n.settlement_id')
    .innerJoin('settlements as s', 's.id', 'n.settlement_id')
    .where('b.chain', '=', query.chain)
    .where('s.token', '=', query.tokenAddress.toLowerCase())
    .where('n.encryption_public_key', '=', query.encryptionPublicKey);
}

/**
 * Outputs of spends: what holders transferred to each other, and the change of their own spends.
 * @param which - `own`: labelled with the holder's P. `open`: the others, of spends for whose labels nobody vouches
 */
function ofSpends(db: PlatformDatabase, query: NotesQuery, which: 'own' | 'open') {
  return db
    .selectFrom('spend_notes as n')
    .innerJoin('batches as b', 'b.spend_id', 'n.spend_id')
    .innerJoin('spends as s', 's.id', 'n.spend_id')
    .where('b.chain', '=', query.chain)
    .where('s.token', '=', query.tokenAddress.toLowerCase())
    .where('n.encryption_public_key', which === 'own' ? '=' : '!=', query.encryptionPublicKey)
    .$if(which === 'open', (notes) => notes.where('b.open_notes', '=', true));
}

/** Outputs of spends that nobody posted here. */
function ofCalldata(db: PlatformDatabase, query: NotesQuery) {
  return db
    .selectFrom('calldata_notes as n')
    .innerJoin('batches as b', (join) =>
      join.onRef('b.chain', '=', 'n.chain').onRef('b.leaf_index', '=', 'n.leaf_index'),
    )
    .where('b.chain', '=', query.chain)
    .where((eb) =>
      eb.or([eb('n.token', 'is', null), eb('n.token', '=', query.tokenAddress.toLowerCase())]),
    );
}

/** How many notes the pages up to a position have. It grows when a note is delivered late, behind the cursor of its holder. */
async function countUpTo(
  db: PlatformDatabase,
  query: NotesQuery,
  { batchIndex, slot }: Position,
): Promise<number> {
  const isCovered = sql<boolean>`(b.leaf_index, n.slot) <= (${batchIndex}, ${slot})`;
  const count = sql<string | number>`count(*)`.as('count');
  const counts = [
    await ofBatches(db, query).select(count).where(isCovered).executeTakeFirstOrThrow(),
    await ofSpends(db, query, 'own').select(count).where(isCovered).executeTakeFirstOrThrow(),
    await ofSpends(db, query, 'open').select(count).where(isCovered).executeTakeFirstOrThrow(),
    await ofCalldata(db, query).select(count).where(isCovered).executeTakeFirstOrThrow(),
  ];
  return counts.reduce((sum, row) => sum + Number(row.count), 0);
}

function parseCursor(cursor: string | undefined): Position {
  if (cursor === undefined) {
    return { batchIndex: -1, slot: -1 };
  }
  const match = /^([0-9]{1,9})\.([0-9]{1,4})$/.exec(cursor);
  if (match === null) {
    throw new PoolError('invalid_request', 'cursor: pass the cursor of the page before, unchanged');
  }
  return { batchIndex: Number(match[1]), slot: Number(match[2]) };
}
