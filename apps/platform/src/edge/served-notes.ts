/**
 * Sealed notes for a holder (protocol §3): those addressed to the subject's registered P, in batches and spends
 * that are final on chain, in the order of the note tree.
 *
 * @module
 */
import type { NotesResponse } from '@pool/api';
import { PoolError, parseHex, parseHex32 } from '@pool/core';
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
  const rows = [
    ...(await selectBatchNotes(db, query, after)),
    ...(await selectSpendNotes(db, query, after)),
  ].sort((one, other) => one.batchIndex - other.batchIndex || one.slot - other.slot);
  const page = rows.slice(0, pageSize);
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
    ...(rows.length > pageSize && last !== undefined
      ? { cursor: `${last.batchIndex}.${last.slot}` }
      : {}),
  };
}

type Position = { readonly batchIndex: number; readonly slot: number };

/** Of batches that funders paid. */
async function selectBatchNotes(db: PlatformDatabase, query: NotesQuery, after: Position) {
  return await db
    .selectFrom('sealed_notes as n')
    .innerJoin('batches as b', 'b.settlement_id', 'n.settlement_id')
    .innerJoin('settlements as s', 's.id', 'n.settlement_id')
    .select([
      'n.commitment as commitment',
      'n.sealed as sealed',
      'n.slot as slot',
      'b.leaf_index as batchIndex',
      'b.tx_hash as txHash',
    ])
    .where('b.chain', '=', query.chain)
    .where('s.token', '=', query.tokenAddress.toLowerCase())
    .where('n.encryption_public_key', '=', query.encryptionPublicKey)
    .where((eb) =>
      eb.or([
        eb('b.leaf_index', '>', after.batchIndex),
        eb.and([eb('b.leaf_index', '=', after.batchIndex), eb('n.slot', '>', after.slot)]),
      ]),
    )
    .orderBy('b.leaf_index')
    .orderBy('n.slot')
    .limit(pageSize + 1)
    .execute();
}

/** Outputs of spends: what holders transferred to each other, and the change of their own spends. */
async function selectSpendNotes(db: PlatformDatabase, query: NotesQuery, after: Position) {
  return await db
    .selectFrom('spend_notes as n')
    .innerJoin('batches as b', 'b.spend_id', 'n.spend_id')
    .innerJoin('spends as s', 's.id', 'n.spend_id')
    .select([
      'n.commitment as commitment',
      'n.sealed as sealed',
      'n.slot as slot',
      'b.leaf_index as batchIndex',
      'b.tx_hash as txHash',
    ])
    .where('b.chain', '=', query.chain)
    .where('s.token', '=', query.tokenAddress.toLowerCase())
    .where('n.encryption_public_key', '=', query.encryptionPublicKey)
    .where((eb) =>
      eb.or([
        eb('b.leaf_index', '>', after.batchIndex),
        eb.and([eb('b.leaf_index', '=', after.batchIndex), eb('n.slot', '>', after.slot)]),
      ]),
    )
    .orderBy('b.leaf_index')
    .orderBy('n.slot')
    .limit(pageSize + 1)
    .execute();
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
