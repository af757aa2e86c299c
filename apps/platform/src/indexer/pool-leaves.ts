/**
 * The rows of the note tree's leaves: written with the indexer's position in one transaction, so that a leaf is stored once.
 *
 * @module
 */
import type { PoolLeaf } from '@pool/contracts';
import { errorCodeOf } from '@pool/core';
import { type LeanImtFrontier, serializeFrontier } from '@pool/notes';
import type { PoolChain } from '../chain/pool-chain.ts';
import type { PlatformDatabase } from '../database/platform-tables.ts';
import type { Log } from '../log.ts';

type LeafDeps = {
  readonly db: PlatformDatabase;
  readonly chain: Pick<PoolChain, 'key' | 'fetchPoolLeaves'>;
  readonly log: Log;
};

type Cursor = {
  readonly blockNumber: number;
  readonly blockHash: string;
  /** Of the tree with these leaves. */
  readonly frontier: LeanImtFrontier;
};

/** Leaves per statement: the commitments of each may be 17 kB. */
const leavesAtOnce = 50;

/** Stores the leaves of a range of blocks, and that the range was read. */
export async function storeLeaves(
  { db, chain }: LeafDeps,
  leaves: readonly PoolLeaf[],
  cursor: Cursor,
): Promise<void> {
  const position = {
    block_number: cursor.blockNumber,
    block_hash: cursor.blockHash,
    frontier: serializeFrontier(cursor.frontier),
  };
  const nullifiers = leaves.flatMap((leaf) =>
    leaf.kind === 'fund'
      ? []
      : leaf.nullifiers.map((nullifier, place) => ({
          chain: chain.key,
          nullifier,
          leaf_index: leaf.leafIndex,
          place,
        })),
  );
  await db.transaction().execute(async (trx) => {
    for (let start = 0; start < leaves.length; start += leavesAtOnce) {
      await trx
        .insertInto('batches')
        .values(
          leaves.slice(start, start + leavesAtOnce).map((leaf) => ({
            chain: chain.key,
            leaf_index: leaf.leafIndex,
            kind: leaf.kind,
            batch_root: leaf.batchRoot,
            new_root: leaf.newRoot,
            batch_id: leaf.kind === 'fund' ? leaf.batchId : null,
            commitments: JSON.stringify(leaf.commitments),
            sealed_notes_hash: leaf.sealedNotesHash,
            tx_hash: leaf.txHash,
            block_number: leaf.blockNumber,
            settlement_id: null,
          })),
        )
        .execute();
    }
    for (let start = 0; start < nullifiers.length; start += 500) {
      await trx
        .insertInto('nullifiers')
        .values(nullifiers.slice(start, start + 500))
        .execute();
    }
    await trx
      .insertInto('indexer_cursors')
      .values({ chain: chain.key, ...position, halted: null })
      .onConflict((conflict) => conflict.column('chain').doUpdateSet(position))
      .execute();
  });
}

/** Blocks per pass in which the contents of earlier leaves are read again. */
const blocksPerPass = 1_000;

/**
 * Reads the contents of leaves again that an earlier version indexed without them, the oldest first. One range per pass, so
 * that new leaves do not wait. Resolves at once when nothing is missing.
 */
export async function readMissingContents({ db, chain, log }: LeafDeps): Promise<void> {
  const first = await db
    .selectFrom('batches')
    .select('block_number')
    .where('chain', '=', chain.key)
    .where('commitments', 'is', null)
    .orderBy('leaf_index')
    .executeTakeFirst();
  if (first === undefined) {
    return;
  }
  const last = await db
    .selectFrom('indexer_cursors')
    .select('block_number')
    .where('chain', '=', chain.key)
    .executeTakeFirstOrThrow();
  const to = Math.min(first.block_number + blocksPerPass - 1, last.block_number);
  let leaves: readonly PoolLeaf[];
  try {
    leaves = await chain.fetchPoolLeaves(first.block_number, to);
  } catch (error) {
    // A node that keeps no old logs must not stop the pass, which has stored all new leaves.
    const facts = { chain: chain.key, from: first.block_number, to, code: errorCodeOf(error) };
    log.warn(facts, 'the RPC refuses the logs of older batches: reading again later');
    return;
  }
  const found = await db.transaction().execute(async (trx) => {
    let count = 0;
    for (const { leafIndex, batchRoot, newRoot, commitments } of leaves) {
      const { numUpdatedRows } = await trx
        .updateTable('batches')
        .set({ new_root: newRoot, commitments: JSON.stringify(commitments) })
        .where('chain', '=', chain.key)
        .where('leaf_index', '=', leafIndex)
        .where('batch_root', '=', batchRoot)
        .where('commitments', 'is', null)
        .executeTakeFirst();
      count += Number(numUpdatedRows);
    }
    return count;
  });
  const facts = { chain: chain.key, found, from: first.block_number, to };
  if (found === 0) {
    log.warn(facts, 'the RPC does not have the contents of older batches: reading again later');
  } else {
    log.info(facts, 'read the contents of older batches again');
  }
}
