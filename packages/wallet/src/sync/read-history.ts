/**
 * Reads the pool's events up to the final block into the store, and checks them: no leaf is missing, each window's leaves give
 * the root that the events name, and the last root is the pool's own.
 *
 * @module
 */
import { errorCodeOf, PoolError } from '@pool/core';
import { createIncomplete, createNodeBehind } from './node-answers.ts';
import type { NoteTree } from './note-tree.ts';
import type { BlockMark, HistoryLeaf, HistoryPort, NoteStore } from './ports.ts';

export type HistoryDeps = {
  readonly history: HistoryPort;
  readonly store: NoteStore;
  readonly tree: () => Promise<NoteTree>;
  readonly deployedAtBlock: number;
  /** The stored root was compared with the pool's as of this block, by this process. Undefined: not yet. */
  readonly comparedBlock: number | undefined;
  /** Before leaves are stored, so that what an interruption loses of them is read again. */
  readonly onLeaves: (leaves: readonly HistoryLeaf[]) => Promise<void>;
  /** After each write. */
  readonly onBlocks: (read: number, total: number) => void;
};

/** Most public RPCs answer 1,000 blocks; larger windows are tried where there are few events. */
const firstWindowBlocks = 1_000;
const smallestWindowBlocks = 100;
const largestWindowBlocks = 64_000;
/** Bounds the memory of one window and the work that a kill loses. */
const leavesPerWrite = 1_024;
const windowsPerWrite = 8;

/**
 * @returns whether the stored leaves give the pool's root. False: discard all of them and throw {@link createIncomplete}
 * @throws PoolError `note_history_changed` if the chain replaced a block that was final, `note_history_incomplete` (retryable) if
 *   the events do not give the roots that they name, `chain_unreachable` (retryable); the errors of {@link NoteStore}
 */
export async function readHistory(deps: HistoryDeps): Promise<boolean> {
  const { history, store, deployedAtBlock } = deps;
  const final = await history.fetchFinalBlock();
  const from = store.block === undefined ? deployedAtBlock : store.block.number + 1;
  if (store.block !== undefined) {
    // An RPC that is behind has nothing new, and what is stored was final.
    if (final.number < store.block.number) {
      return true;
    }
    await assertSameBlock(store.block, final, history);
  }
  if (final.number >= from) {
    await readBlocks(from, final, deps);
  } else if (deps.comparedBlock === final.number) {
    return true;
  }
  // If they differ, the events were consistent among themselves, and it is not known which of them are wrong.
  return (await history.fetchNoteRoot(final.number)) === store.readLastRoot();
}

async function assertSameBlock(
  stored: BlockMark,
  final: BlockMark,
  history: HistoryPort,
): Promise<void> {
  const hash =
    stored.number === final.number ? final.hash : await history.fetchBlockHash(stored.number);
  if (hash === undefined) {
    throw createNodeBehind(history);
  }
  if (hash !== stored.hash) {
    throw new PoolError(
      'note_history_changed',
      `the node ${history.node} has another block ${stored.number} than the one that was final at the last sync: check the node, then run "disburse-agent rescan"`,
    );
  }
}

async function readBlocks(from: number, final: BlockMark, deps: HistoryDeps): Promise<void> {
  const { history, onBlocks } = deps;
  const total = final.number - from + 1;
  let window = firstWindowBlocks;
  let leaves: HistoryLeaf[] = [];
  let windows = 0;
  onBlocks(0, total);
  for (let next = from; next <= final.number; ) {
    const to = Math.min(final.number, next + window - 1);
    const found = await fetchWindow(history, next, to);
    if (found === undefined) {
      window = Math.max(smallestWindowBlocks, Math.floor((to - next + 1) / 2));
      continue;
    }
    window = Math.min(largestWindowBlocks, window * (found.length < leavesPerWrite ? 2 : 1));
    leaves.push(...found);
    windows += 1;
    next = to + 1;
    if (leaves.length >= leavesPerWrite || windows >= windowsPerWrite || to === final.number) {
      await write(leaves, to === final.number ? final : await markBlock(history, to), deps);
      onBlocks(to - from + 1, total);
      leaves = [];
      windows = 0;
    }
  }
}

/** @returns undefined if a smaller window should be tried: many RPCs limit the range or the size of an answer */
async function fetchWindow(
  history: HistoryPort,
  from: number,
  to: number,
): Promise<readonly HistoryLeaf[] | undefined> {
  try {
    return await history.fetchLeaves(from, to);
  } catch (error) {
    if (errorCodeOf(error) === 'chain_unreachable' && to - from + 1 > smallestWindowBlocks) {
      return undefined;
    }
    throw error;
  }
}

async function markBlock(history: HistoryPort, number: number): Promise<BlockMark> {
  const hash = await history.fetchBlockHash(number);
  if (hash === undefined) {
    throw createNodeBehind(history);
  }
  return { number, hash };
}

/** Checks the leaves before they are stored, so that a checkpoint is always a verified one. */
async function write(
  leaves: readonly HistoryLeaf[],
  upTo: BlockMark,
  { store, history, tree: findTree, onLeaves }: HistoryDeps,
): Promise<void> {
  const first = store.leafCount;
  if (leaves.some(({ leafIndex }, place) => leafIndex !== first + place)) {
    throw createIncomplete(history, 'a leaf of the note tree is missing');
  }
  const last = leaves.at(-1);
  if (last !== undefined) {
    const tree = await findTree();
    await tree.append(leaves.map(({ root }) => root));
    if (tree.root !== last.newRoot) {
      throw createIncomplete(history, 'they do not give the root that the last of them names');
    }
  }
  await onLeaves(leaves);
  store.appendLeaves(leaves, upTo);
}
