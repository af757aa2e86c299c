/**
 * The indexer: one worker per chain. It reads what the pool inserted into its note tree up to the final block, computes the tree's root
 * and compares it with the contract's after every range (ARCHITECTURE.md, "The authority for each fact"). It reads a mismatch again
 * on fresh state for a while, since one RPC node behind the others is enough to cause one. When the mismatch stays, the
 * indexer halts and no notes are served: a wrong tree would yield unspendable paths. An event whose commitments do not give its leaf is
 * not stored either; the indexer names the node, and reads on once it is honest.
 *
 * The inner nodes that the next leaf needs are stored with the position, in the transaction that stores the leaves
 * (docs/decisions/0010). So a pass that fails, or a restart, hashes nothing again.
 *
 * @module
 */
import { fieldToHex, PoolError, parseField, zeroField } from '@pool/core';
import { type PlatformDatabase, type Term, writeAsLeader } from '@pool/database';
import type { Log } from '@pool/http-server';
import {
  appendLeaves,
  deserializeFrontier,
  emptyFrontier,
  type HashMany,
  hashHere,
  type LeanImtFrontier,
  serializeFrontier,
} from '@pool/notes';
import type { PoolChain } from '../chain/pool-chain.ts';
import { selectCursor } from '../served/served-batches.ts';
import { restoreSpendNotes } from './event-notes.ts';
import { assertContents, storeLeaves } from './pool-leaves.ts';
import { settleLanded } from './settle-landed.ts';

/** Whether the indexer of a chain has halted, as its worker saw it after its last pass. */
export function createHaltWatch(db: PlatformDatabase, chain: string) {
  let isHalted = false;
  return {
    async look(): Promise<void> {
      isHalted = (await selectCursor(db, chain)).halted !== null;
    },
    check: () =>
      isHalted
        ? new PoolError(
            'notes_unavailable',
            `chain ${chain}: the indexer has halted, because the index disagrees with the chain; see "The indexer has halted" in docs/operations`,
          )
        : undefined,
  };
}

export type IndexerDeps = {
  readonly db: PlatformDatabase;
  readonly chain: PoolChain;
  readonly log: Log;
  readonly nowMs: () => number;
  /** A clock that does not step when the machine's is set. Default: the process's. */
  readonly steadyMs?: () => number;
  /** Default: hashes on this thread. */
  readonly hashMany?: HashMany;
  /** As of the relayer. */
  readonly assertLeader?: Term['assertLeader'];
};

type HaltDeps = Pick<IndexerDeps, 'db' | 'log' | 'assertLeader'> & {
  readonly chain: Pick<PoolChain, 'key' | 'settings'>;
};

/** Blocks per read: public RPCs accept this many. */
const blocksPerRange = 1_000;

/** The indexer halts once this many passes in a row saw a mismatch, over at least this time. */
const believedAfterPasses = 5;
const believedAfterMs = 30_000;

export type Indexer = ReturnType<typeof createIndexer>;

export function createIndexer(all: IndexerDeps) {
  let doubt:
    | { readonly sinceMs: number; readonly passes: number; readonly epoch: number }
    | undefined;

  async function weigh(
    deps: IndexerDeps,
    epoch: number,
    reason: string | undefined,
  ): Promise<void> {
    if (reason === undefined) {
      doubt = undefined;
      return;
    }
    const { steadyMs = () => performance.now() } = deps;
    const now = steadyMs();
    // What this process saw before another one led says nothing about the passes in a row.
    const before = doubt?.epoch === epoch ? doubt : { sinceMs: now, passes: 0 };
    doubt = { ...before, passes: before.passes + 1, epoch };
    if (doubt.passes >= believedAfterPasses && now - doubt.sinceMs >= believedAfterMs) {
      await halt(deps, reason);
    } else {
      deps.log.warn({ chain: deps.chain.key, reason, passes: doubt.passes }, 'reading again');
    }
  }

  return {
    /**
     * Reads up to the final block and settles what has landed. Passes must not overlap.
     * @param term - of this process as the indexer's leader, for the whole pass. Absent: an embedded database
     */
    async pass(term?: Term): Promise<void> {
      const deps = term === undefined ? all : { ...all, assertLeader: term.assertLeader };
      await weigh(deps, term?.epoch ?? 0, await runPass(deps));
    },
  };
}

/** @returns what is wrong with the chain's answers, or undefined */
async function runPass(deps: IndexerDeps): Promise<string | undefined> {
  const { chain } = deps;
  const cursor = await selectCursor(deps.db, chain.key);
  if (cursor.halted !== null || (await haltMovedChain(deps))) {
    return undefined;
  }
  const final = await chain.fetchFinalBlock();
  if (cursor.block_number !== undefined) {
    const hash = await chain.fetchBlockHash(cursor.block_number);
    if (hash !== undefined && hash !== cursor.block_hash) {
      return 'a block that was final has changed';
    }
  }
  let frontier =
    cursor.frontier === null ? await restoreFrontier(deps) : deserializeFrontier(cursor.frontier);
  let from =
    cursor.block_number === undefined ? chain.settings.deployedAtBlock : cursor.block_number + 1;
  while (from <= final.number) {
    const to = Math.min(from + blocksPerRange - 1, final.number);
    const read = await readRange(deps, frontier, from, to);
    if (typeof read === 'string') {
      return read;
    }
    frontier = read;
    from = to + 1;
  }
  await settleLanded(deps);
  await restoreSpendNotes(deps);
  return undefined;
}

/**
 * Lifts a halt, for an operator who has found the cause. The next pass hashes all leaves again, checks everything and may halt again.
 * @returns the reason of the halt; undefined when there was none
 */
export async function resumeIndexer(
  db: PlatformDatabase,
  chainKey: string,
): Promise<string | undefined> {
  return await db.transaction().execute(async (trx) => {
    const row = await selectCursor(trx, chainKey);
    if (row.halted === null) {
      return undefined;
    }
    // A halt before the first range leaves a row without a cursor.
    await (row.block_hash === ''
      ? trx.deleteFrom('indexer_cursors').where('chain', '=', chainKey).execute()
      : trx
          .updateTable('indexer_cursors')
          .set({ halted: null, frontier: null })
          .where('chain', '=', chainKey)
          .execute());
    return row.halted;
  });
}

/** @returns the frontier with the leaves of the range, which were stored; or what is wrong with the range */
async function readRange(
  deps: IndexerDeps,
  before: LeanImtFrontier,
  from: number,
  to: number,
): Promise<LeanImtFrontier | string> {
  const { chain, log, hashMany = hashHere } = deps;
  const leaves = await chain.fetchPoolLeaves(from, to);
  const hash = await chain.fetchBlockHash(to);
  if (hash === undefined) {
    throw new PoolError('chain_unreachable', 'the RPC does not know a final block');
  }
  if (leaves.some(({ leafIndex }, place) => leafIndex !== before.size + place)) {
    return 'a batch is missing or out of order';
  }
  const { frontier, roots } = await appendLeaves(
    before,
    leaves.map(({ batchRoot }) => parseField(batchRoot)),
    hashMany,
  );
  if (leaves.some(({ newRoot }, place) => fieldToHex(roots[place] ?? zeroField) !== newRoot)) {
    return 'the re-derived note root differs from the root of an event';
  }
  // Compares with the contract's own root, so that withheld events are noticed.
  if (fieldToHex(frontier.root) !== (await chain.fetchNoteRoot(to))) {
    return 'the re-derived note root differs from the contract';
  }
  await assertContents(deps, leaves);
  await storeLeaves(deps, leaves, { blockNumber: to, blockHash: hash, frontier });
  if (leaves.length > 0) {
    log.info({ chain: chain.key, batches: leaves.length, block: to }, 'indexed');
  }
  return frontier;
}

/** Leaves read from the database and hashed at once. */
const leavesAtOnce = 1_000;

/** Hashes all leaves: once after the indexer was resumed, or where the frontier was never stored. */
async function restoreFrontier(deps: IndexerDeps): Promise<LeanImtFrontier> {
  const { db, chain, hashMany = hashHere } = deps;
  let frontier = emptyFrontier;
  for (;;) {
    const rows = await db
      .selectFrom('batches')
      .select('batch_root')
      .where('chain', '=', chain.key)
      .where('leaf_index', '>=', frontier.size)
      .orderBy('leaf_index')
      .limit(leavesAtOnce)
      .execute();
    if (rows.length === 0) {
      break;
    }
    const roots = rows.map((row) => parseField(row.batch_root));
    ({ frontier } = await appendLeaves(frontier, roots, hashMany));
  }
  await writeAsLeader(deps, (trx) =>
    trx
      .updateTable('indexer_cursors')
      .set({ frontier: serializeFrontier(frontier) })
      .where('chain', '=', chain.key)
      .execute(),
  );
  return frontier;
}

/**
 * Halts the index of a chain whose name now stands for another pool than the one that was indexed: its notes and pages belong to the old one.
 * @returns whether it is so
 */
export async function haltMovedChain(deps: HaltDeps): Promise<boolean> {
  const reason = await explainMove(deps);
  if (reason !== undefined) {
    await halt(deps, reason);
  }
  return reason !== undefined;
}

/**
 * As {@link haltMovedChain}, for a process that does not lead the index: it writes nothing.
 * @throws PoolError `invalid_configuration`
 */
export async function assertIndexedPool(deps: Pick<HaltDeps, 'db' | 'chain'>): Promise<void> {
  const reason = await explainMove(deps);
  if (reason !== undefined) {
    throw new PoolError('invalid_configuration', `chain ${deps.chain.key}: ${reason}`);
  }
}

async function explainMove({
  db,
  chain,
}: Pick<HaltDeps, 'db' | 'chain'>): Promise<string | undefined> {
  const { pool } = await selectCursor(db, chain.key);
  return pool === null || pool === chain.settings.pool.toLowerCase()
    ? undefined
    : `the index is of the pool ${pool}, and chains.json names another pool for this chain; give the new pool a chain key of its own`;
}

async function halt(deps: HaltDeps, reason: string): Promise<void> {
  const { chain, log } = deps;
  log.error({ chain: chain.key, reason }, 'indexer halted: no notes are served');
  await writeAsLeader(deps, (trx) =>
    trx
      .insertInto('indexer_cursors')
      .values({ chain: chain.key, block_number: 0, block_hash: '', halted: reason })
      .onConflict((conflict) => conflict.column('chain').doUpdateSet({ halted: reason }))
      .execute(),
  );
}
