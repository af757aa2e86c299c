/**
 * The rows of the note tree's leaves: checked against the events' own contents, and written with the indexer's position in one transaction,
 * so that a leaf is stored once.
 *
 * @module
 */
import type { PoolLeaf } from '@pool/contracts';
import { fieldToHex, hexToBigint, PoolError } from '@pool/core';
import { type PlatformDatabase, type Term, writeAsLeader } from '@pool/database';
import type { Log } from '@pool/http-server';
import {
  computeBatchRoots,
  type HashMany,
  hashHere,
  type LeanImtFrontier,
  serializeFrontier,
} from '@pool/notes';
import type { PoolChain } from '../chain/pool-chain.ts';

type LeafDeps = {
  readonly db: PlatformDatabase;
  readonly chain: Pick<PoolChain, 'key' | 'settings' | 'fetchPoolLeaves'>;
  readonly log: Log;
  /** Default: hashes on this thread. */
  readonly hashMany?: HashMany;
  readonly assertLeader?: Term['assertLeader'];
};

type Cursor = {
  readonly blockNumber: number;
  readonly blockHash: string;
  /** Of the tree with these leaves. */
  readonly frontier: LeanImtFrontier;
};

/** Leaves per statement: the commitments of each may be 17 kB. */
const leavesAtOnce = 50;

/** Leaves whose contents are hashed at once: 16,320 hashes at most. */
const hashedAtOnce = 64;

/**
 * The contract's root of the note tree binds the leaves, and nothing but their own root binds the commitments of an event. Pages of
 * `/agent-edge/batches` are final for caches, so a commitment that a node changed must not get there.
 * @throws PoolError `chain_unreachable` that names the node, if the commitments of an event do not give its leaf
 */
export async function assertContents(
  { chain, log, hashMany = hashHere }: LeafDeps,
  leaves: readonly PoolLeaf[],
): Promise<void> {
  for (let start = 0; start < leaves.length; start += hashedAtOnce) {
    const some = leaves.slice(start, start + hashedAtOnce);
    const words = some.map(({ commitments }) => commitments.map((word) => hexToBigint(word)));
    const roots = await computeBatchRoots(words, hashMany);
    const changed = some.find(({ batchRoot }, place) => {
      const root = roots[place];
      return root === undefined || fieldToHex(root) !== batchRoot;
    });
    if (changed !== undefined) {
      const node = new URL(chain.settings.rpcUrl).host;
      const { leafIndex: leaf, txHash } = changed;
      const facts = { chain: chain.key, node, leaf, txHash };
      log.error(facts, 'the node changed the contents of an event: set rpcUrl to another node');
      throw new PoolError(
        'chain_unreachable',
        `the node ${node} served an event whose commitments do not give its leaf (transaction ${txHash}); set rpcUrl of this chain to another node`,
      );
    }
  }
}

/** Stores the leaves of a range of blocks, and that the range was read. */
export async function storeLeaves(
  deps: LeafDeps,
  leaves: readonly PoolLeaf[],
  cursor: Cursor,
): Promise<void> {
  const { chain } = deps;
  const position = {
    block_number: cursor.blockNumber,
    block_hash: cursor.blockHash,
    frontier: serializeFrontier(cursor.frontier),
    pool: chain.settings.pool.toLowerCase(),
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
  await writeAsLeader(deps, async (trx) => {
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
