/**
 * The contents of batches and spends (ARCHITECTURE.md), from which holders make the paths of their notes themselves: who asks
 * for everything shows nobody which note is spent. All of it is public on chain. The reader compares the roots with the chain.
 * What is read here is served by batch-pages.ts.
 *
 * @module
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { BatchesResponse } from '@pool/api';
import { PoolError, parseHex32 } from '@pool/core';
import type { PlatformDatabase } from '@pool/database';

/** Leaves per page. */
const pageSize = 100;
/** Commitments per page, besides those of its last leaf: 16 batches of 256 are 300 kB. */
const pageCommitments = 4_096;

/** How far the indexer is, and why it halted. Nothing is set before its first range. */
export async function selectCursor(db: PlatformDatabase, chain: string) {
  const row = await db
    .selectFrom('indexer_cursors')
    .selectAll()
    .where('chain', '=', chain)
    .executeTakeFirst();
  return (
    row ?? { block_number: undefined, block_hash: '', halted: null, frontier: null, pool: null }
  );
}

/** How often a process looks how far the index is that another one leads. */
const lookMs = 100;

/** Waits until the index has a block. It gives up at a halt, and after a time. */
export async function waitUntilIndexed(
  db: PlatformDatabase,
  chain: string,
  block: number,
  timeoutMs: number,
): Promise<void> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const { block_number = -1, halted } = await selectCursor(db, chain);
    if (block_number >= block || halted !== null || performance.now() >= end) {
      return;
    }
    await delay(lookMs, undefined, { ref: false });
  }
}

/** How many leaves are indexed. */
export async function countLeaves(db: PlatformDatabase, chain: string): Promise<number> {
  const { last } = await db
    .selectFrom('batches')
    .select((eb) => eb.fn.max<number | null>('leaf_index').as('last'))
    .where('chain', '=', chain)
    .executeTakeFirstOrThrow();
  return (last ?? -1) + 1;
}

/** @throws PoolError `notes_unavailable` (503) after the indexer halted on a wrong tree */
export async function assertIndexRight(db: PlatformDatabase, chain: string): Promise<void> {
  if ((await selectCursor(db, chain)).halted !== null) {
    throw new PoolError(
      'notes_unavailable',
      'notes of this chain are not served: the index disagrees with the chain; tell the operator',
    );
  }
}

/**
 * One page. `next` is absent while the page is not full, or nothing follows it.
 * @param from - index of the first leaf
 */
export async function readPage(
  db: PlatformDatabase,
  chain: string,
  from: number,
): Promise<BatchesResponse> {
  const rows = await db
    .selectFrom('batches')
    .select([
      'leaf_index',
      'kind',
      'batch_root',
      'new_root',
      'commitments',
      'sealed_notes_hash',
      'tx_hash',
      'block_number',
    ])
    .where('chain', '=', chain)
    .where('leaf_index', '>=', from)
    .orderBy('leaf_index')
    .limit(pageSize + 1)
    .execute();
  const nullifiers = await selectNullifiers(db, chain, from, from + pageSize);
  const batches: BatchesResponse['batches'] = [];
  let commitments = 0;
  for (const row of rows) {
    if (batches.length === pageSize || commitments >= pageCommitments) {
      return { batches, next: row.leaf_index };
    }
    const words = parseWords(row.commitments);
    commitments += words.length;
    batches.push({
      index: row.leaf_index,
      kind: row.kind,
      root: parseHex32(row.batch_root),
      noteRoot: parseHex32(row.new_root),
      commitments: words,
      nullifiers: nullifiers.get(row.leaf_index) ?? [],
      sealedNotesHash: parseHex32(row.sealed_notes_hash),
      txHash: parseHex32(row.tx_hash),
      blockNumber: row.block_number,
    });
  }
  return { batches };
}

async function selectNullifiers(db: PlatformDatabase, chain: string, from: number, to: number) {
  const rows = await db
    .selectFrom('nullifiers')
    .select(['leaf_index', 'nullifier'])
    .where('chain', '=', chain)
    .where('leaf_index', '>=', from)
    .where('leaf_index', '<', to)
    .orderBy('leaf_index')
    .orderBy('place')
    .execute();
  const byLeaf = new Map<number, BatchesResponse['batches'][number]['nullifiers']>();
  for (const { leaf_index, nullifier } of rows) {
    byLeaf.set(leaf_index, [...(byLeaf.get(leaf_index) ?? []), parseHex32(nullifier)]);
  }
  return byLeaf;
}

/** The commitments of a leaf. */
export function parseWords(json: string) {
  return (JSON.parse(json) as string[]).map((word) => parseHex32(word));
}
