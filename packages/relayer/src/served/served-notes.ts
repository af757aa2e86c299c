/**
 * Sealed notes for a holder (protocol §3): those addressed to the subject's registered P, in batches and spends that are final on
 * chain, in the order of the note tree. Beside them all notes of spends for whose labels nobody vouches, in the order in which they
 * became so: the holder tries its key on them (docs/decisions/0011).
 *
 * @module
 */
import type { NotesResponse } from '@pool/api';
import { PoolError, parseHex, parseHex32 } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';
import { sql } from 'kysely';
import { assertIndexRight } from './served-batches.ts';

export type NotesQuery = {
  readonly chain: string;
  readonly tokenSymbol: string;
  readonly tokenAddress: string;
  readonly encryptionPublicKey: string;
  readonly cursor: string | undefined;
};

const pageSize = 200;

/** Leaves of the open stream per page: 200 notes at most. */
const openLeavesPerPage = 25;

/** @throws PoolError `notes_unavailable` (503) after the indexer halted on a wrong tree, `invalid_request` */
export async function listServedNotes(
  db: PlatformDatabase,
  query: NotesQuery,
): Promise<NotesResponse> {
  await assertIndexRight(db, query.chain);
  const after = parseCursor(query.cursor);
  const isBehind = sql<boolean>`(b.leaf_index, n.slot) > (${after.batchIndex}, ${after.slot})`;
  const rows = await ownNotes(db, query)
    .select(columns)
    .where(isBehind)
    .orderBy('b.leaf_index')
    .orderBy('n.slot')
    .limit(pageSize + 1)
    .execute();
  const page = rows.slice(0, pageSize);
  const open = await selectOpen(db, query, after.open);
  const before = query.cursor === undefined ? undefined : await countUpTo(db, query, after);
  const last = page.at(-1) ?? after;
  return {
    notes: page.map((row) => describeNote(query, row)),
    ...(open.notes.length === 0 ? {} : { open: open.notes.map((row) => describeNote(query, row)) }),
    ...(before === undefined ? {} : { before }),
    ...(rows.length > pageSize || open.hasMore
      ? { cursor: `${last.batchIndex}.${last.slot}.${open.last}` }
      : {}),
  };
}

type Position = { readonly batchIndex: number; readonly slot: number };

type NoteRow = Position & {
  readonly commitment: string;
  readonly sealed: string;
  readonly txHash: string;
};

function describeNote({ chain, tokenSymbol }: NotesQuery, row: NoteRow) {
  return {
    commitment: parseHex32(row.commitment),
    sealed: parseHex(row.sealed),
    chain,
    token: tokenSymbol,
    batchIndex: row.batchIndex,
    slot: row.slot,
    txHash: parseHex32(row.txHash),
  };
}

function comparePlaces(one: Position, other: Position): number {
  return one.batchIndex - other.batchIndex || one.slot - other.slot;
}

const columns = [
  'n.commitment as commitment',
  'n.sealed as sealed',
  'n.slot as slot',
  'b.leaf_index as batchIndex',
  'b.tx_hash as txHash',
] as const;

/** Of batches that funders paid, and outputs of spends: what holders transferred to each other, and the change of their own spends. */
function ownNotes(db: PlatformDatabase, query: NotesQuery) {
  return db
    .selectFrom('sealed_notes as n')
    .innerJoin('batches as b', 'b.submission_id', 'n.submission_id')
    .innerJoin('submissions as s', 's.id', 'n.submission_id')
    .where('b.chain', '=', query.chain)
    .where('s.token', '=', query.tokenAddress.toLowerCase())
    .where('n.encryption_public_key', '=', query.encryptionPublicKey);
}

/** The next leaves of the stream that everybody reads: notes of spends for whose labels nobody vouches, or that nobody posted here. */
async function selectOpen(
  db: PlatformDatabase,
  { chain, tokenAddress }: NotesQuery,
  after: number,
): Promise<{ readonly notes: NoteRow[]; readonly last: number; readonly hasMore: boolean }> {
  const leaves = await db
    .selectFrom('open_leaves')
    .select(['seq', 'leaf_index'])
    .where('chain', '=', chain)
    .where('seq', '>', after)
    .where((eb) => eb.or([eb('token', 'is', null), eb('token', '=', tokenAddress.toLowerCase())]))
    .orderBy('seq')
    .limit(openLeavesPerPage + 1)
    .execute();
  const page = leaves.slice(0, openLeavesPerPage);
  const last = page.at(-1)?.seq ?? after;
  if (page.length === 0) {
    return { notes: [], last, hasMore: false };
  }
  const indices = page.map(({ leaf_index }) => leaf_index);
  const posted = await db
    .selectFrom('sealed_notes as n')
    .innerJoin('batches as b', 'b.submission_id', 'n.submission_id')
    .select(columns)
    .where('b.chain', '=', chain)
    .where('b.leaf_index', 'in', indices)
    .execute();
  const restored = await db
    .selectFrom('calldata_notes as n')
    .innerJoin('batches as b', (join) =>
      join.onRef('b.chain', '=', 'n.chain').onRef('b.leaf_index', '=', 'n.leaf_index'),
    )
    .select(columns)
    .where('n.chain', '=', chain)
    .where('n.leaf_index', 'in', indices)
    .execute();
  const notes = [...posted, ...restored].sort(comparePlaces);
  return { notes, last, hasMore: leaves.length > openLeavesPerPage };
}

/**
 * How many notes of the holder's own the pages up to a position have. It grows when a note is delivered late, behind the cursor of
 * its holder.
 */
async function countUpTo(
  db: PlatformDatabase,
  query: NotesQuery,
  { batchIndex, slot }: Position,
): Promise<number> {
  const isCovered = sql<boolean>`(b.leaf_index, n.slot) <= (${batchIndex}, ${slot})`;
  const { count } = await ownNotes(db, query)
    .select((eb) => eb.fn.countAll<string | number>().as('count'))
    .where(isCovered)
    .executeTakeFirstOrThrow();
  return Number(count);
}

function parseCursor(cursor: string | undefined): Position & { readonly open: number } {
  if (cursor === undefined) {
    return { batchIndex: -1, slot: -1, open: 0 };
  }
  const match = /^(-1|[0-9]{1,9})\.(-1|[0-9]{1,4})\.([0-9]{1,9})$/.exec(cursor);
  if (match === null) {
    throw new PoolError('invalid_request', 'cursor: pass the cursor of the page before, unchanged');
  }
  return { batchIndex: Number(match[1]), slot: Number(match[2]), open: Number(match[3]) };
}
