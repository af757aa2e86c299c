/**
 * One holder's notes in one pool: brings the store up to the newest final block, and answers from it. Reading the chain and scanning
 * run side by side. Both write checkpoints, so a sync continues where an earlier one was interrupted.
 *
 * @module
 */
import { type AssetId, assertField, bytesToBigint, type Field, fieldToHex } from '@pool/core';
import { computeNotePath, type NotePath } from '@pool/notes';
import type { NoteUse, OwnChangePort } from '../note-ports.ts';
import { buildHistory, type Movement } from './build-history.ts';
import { type ImportOutcome, importNotes, type OfferedNote } from './import-notes.ts';
import { createLeafCheck } from './leaf-check.ts';
import { createIncomplete, createNodeBehind, createNodeLags } from './node-answers.ts';
import { createNoteTree, type NoteTree } from './note-tree.ts';
import { archiveNotes, type NoteSourceDeps } from './own-candidates.ts';
import { computeBalance, createOwnNotes, type HolderBalance, type OwnNotes } from './own-notes.ts';
import type {
  BlockMark,
  DeliveryPort,
  HistoryPort,
  NoteArchive,
  NoteKernels,
  NoteStore,
  OwnNote,
  SyncProgress,
} from './ports.ts';
import { readArchive } from './read-archive.ts';
import { createChangeReader } from './read-change.ts';
import { readDeliveries, type SyncAsset } from './read-deliveries.ts';
import { createEventReader } from './read-events.ts';
import { readHistory } from './read-history.ts';

export type HolderSyncDeps = {
  readonly history: HistoryPort;
  readonly deliveries: DeliveryPort;
  readonly kernels: NoteKernels;
  /** Open. The caller closes it. */
  readonly store: NoteStore;
  readonly archive: NoteArchive;
  readonly change: OwnChangePort;
  /** Of every token whose notes the holder wants: the events of spends do not name theirs. */
  readonly assets: readonly AssetId[];
  readonly deployedAtBlock: number;
  /** v, secret. */
  readonly viewingKey: bigint;
  readonly walletId: Field;
};

/** A note with what a spend proves of it. Confidential. */
export type ProvableNote = {
  readonly path: NotePath;
  /** Root that the path gives. It is the pool's own as of `block`, unless its tree is full. */
  readonly noteRoot: Field;
  readonly block: BlockMark | undefined;
};

export type HolderSync = {
  /**
   * Reads what is new: of the chain, of the archive, and the platform's listing of one asset. One call at a time.
   * @returns notes that are new to the store, of any asset, without the change of the holder's own spends
   * @throws PoolError `note_history_changed`, `note_history_incomplete` (retryable), `chain_unreachable` (retryable),
   *   `platform_invalid_response`, and the errors of the ports. What was read before the error is kept
   */
  sync(asset: SyncAsset): Promise<readonly OwnNote[]>;
  /**
   * Takes notes from elsewhere, after reading the chain. The platform is not asked. Use it in place of `sync`, not beside it.
   * @param assets - of which a note can be
   * @returns an outcome for each, in their order
   * @throws like `sync`
   */
  importNotes(
    offered: readonly OfferedNote[],
    assets: readonly AssetId[],
  ): Promise<readonly ImportOutcome[]>;
  /** Reads the chain and keeps the change of the holder's own spends. The platform is not asked. @throws like `sync` */
  keepChange(): Promise<void>;
  /** As of the last sync. */
  computeBalance(assetId: AssetId): HolderBalance;
  /** Unspent notes as of the last sync, in the order of the tree. */
  listSpendable(assetId: AssetId): readonly OwnNote[];
  /** Whether a note is in a leaf of the holder's own spends, as of the last sync: it is change, and no income. */
  isChange(note: Pick<OwnNote, 'leafIndex'>): boolean;
  /** What happened to the notes of an asset as of the last sync, in the order of the chain. */
  listMovements(assetId: AssetId): readonly Movement[];
  /**
   * The path of a note to the newest final root of its tree.
   * @throws PoolError `unknown_leaf`; `note_history_incomplete` (retryable) if the node changed a commitment of its leaf, which the store
   *   has forgotten then; errors of the kernels
   */
  computePath(note: OwnNote): Promise<ProvableNote>;
  /**
   * Compares what the contract says with what its events said, after a sync.
   * @param uses - notes of the asset that the contract has as used by a final spend
   * @throws PoolError `note_history_incomplete` (retryable) if one of them is unspent here: the node changed the nullifiers of that spend,
   *   which the store has forgotten then; `chain_unreachable` (retryable) if the events of the use are in a block that was not read yet
   */
  compareUses(assetId: AssetId, uses: readonly NoteUse[]): Promise<void>;
  progress(): SyncProgress;
};

/**
 * Makes the next sync read the chain again from a block on, and archive and listing from their beginning. Open a new
 * {@link HolderSync} afterwards.
 * @param fromBlock - undefined: from the pool's deployment
 * @throws PoolError `chain_unreachable` (retryable); the errors of {@link NoteStore}
 */
export async function rewindStore(
  { store, archive, history }: Pick<HolderSyncDeps, 'store' | 'archive' | 'history'>,
  fromBlock: number | undefined,
): Promise<void> {
  const { block } = store;
  archiveNotes(store, archive);
  if (fromBlock === undefined || fromBlock <= 0 || block === undefined) {
    store.rewind(undefined);
    return;
  }
  if (fromBlock > block.number) {
    // Nothing of the chain is read again: only the listing.
    store.rewind(block);
    return;
  }
  const number = fromBlock - 1;
  const hash = await history.fetchBlockHash(number);
  if (hash === undefined) {
    throw createNodeBehind(history);
  }
  store.rewind({ number, hash });
}

export function createHolderSync(deps: HolderSyncDeps): HolderSync {
  const { store, kernels, archive, history } = deps;
  const leafCheck = createLeafCheck(deps);
  const notes = createOwnNotes();
  notes.add(store.readNotes());
  markSpends(notes, store, 0);
  let readChange = createChangeReader(deps.change);
  let events = createEventReader(deps);
  let tree: Promise<NoteTree> | undefined;
  let progress: SyncProgress = idleProgress;
  let comparedBlock: number | undefined;
  /** Not returned by a sync yet: one that failed had stored them. */
  let fresh: readonly OwnNote[] = [];

  /** Made when it is first needed: a balance without new leaves needs none. */
  function findTree(): Promise<NoteTree> {
    tree ??= buildTree();
    return tree;
  }

  async function buildTree(): Promise<NoteTree> {
    const built = createNoteTree(kernels);
    await built.append(store.readRoots());
    return built;
  }

  /** Reads the chain, and beside it what `readNotes` reads. */
  async function readBesideChain(
    readNotes: (source: NoteSourceDeps) => Promise<void>,
  ): Promise<void> {
    progress = { ...idleProgress, isRunning: true };
    const leavesBefore = store.leafCount;
    const leaves = createLeafGate(store);
    const sizeBefore = notes.size;
    let isConsistent = true;
    const readChain = async (): Promise<void> => {
      try {
        isConsistent = await readHistory({
          ...deps,
          tree: findTree,
          comparedBlock,
          onLeaves: (found) => events.read(found),
          onBlocks: (read, total) => {
            progress = { ...progress, blocks: { read, total } };
            leaves.announce();
          },
        });
        if (!isConsistent) {
          throw createIncomplete(history, 'the root that they give is not the root of the pool');
        }
        comparedBlock = store.block?.number;
        leaves.end();
      } catch (error) {
        // The tree may have leaves that were not stored.
        tree = undefined;
        leaves.fail(error);
        throw error;
      }
    };
    const source: NoteSourceDeps = {
      ...deps,
      leafCheck,
      waitForLeaf: leaves.wait,
      isKnown: (leafIndex, slot) => notes.has(leafIndex, slot) || events.has(leafIndex, slot),
      onNotes: (processed, added) => {
        notes.add(added);
        fresh = [...fresh, ...added];
        progress = { ...progress, notes: progress.notes + processed };
      },
    };
    try {
      const outcomes = await Promise.allSettled([readChain(), readNotes(source)]);
      if (!isConsistent) {
        // Now that no scan writes any more.
        archiveNotes(store, archive);
        store.rewind(undefined);
        readChange = createChangeReader(deps.change);
        events = createEventReader(deps);
      } else {
        await forgetChanged();
      }
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') {
          throw outcome.reason;
        }
      }
    } finally {
      // A note that was delivered late can be spent in a leaf that is long known.
      markSpends(notes, store, notes.size > sizeBefore ? 0 : leavesBefore);
      progress = { ...progress, isRunning: false };
    }
  }

  /**
   * What the node changed is read again, and so the store heals once the node is honest.
   * @throws PoolError `note_history_incomplete` whatever else failed: what this object remembers of the store is not true any more
   */
  async function forgetChanged(): Promise<void> {
    const { changed } = leafCheck;
    if (changed !== undefined) {
      await rewindStore(deps, changed.blockNumber);
      throw changed.error;
    }
  }

  /** What the holder's own files have, then another source, and at last what the events brought into the archive meanwhile. */
  async function readOwn(source: NoteSourceDeps, readOther: () => Promise<void>): Promise<void> {
    const archived = { ...source, isKnown: notes.has };
    await readArchive(archived);
    await readChange(source);
    try {
      await readOther();
    } finally {
      await source.waitForLeaf(Number.MAX_SAFE_INTEGER);
      await readArchive(archived);
    }
  }

  /** @returns what was added since the last call, without the change of own spends */
  function takeFresh(): readonly OwnNote[] {
    const added = fresh.filter(({ leafIndex }) => !notes.isOwnSpend(leafIndex));
    fresh = [];
    return added;
  }

  return {
    async sync(asset) {
      await readBesideChain((source) =>
        readOwn(source, () => readDeliveries(asset, { ...source, deliveries: deps.deliveries })),
      );
      return takeFresh();
    },
    async importNotes(offered, assets) {
      let outcomes: readonly ImportOutcome[] = [];
      await readBesideChain((source) =>
        readOwn(source, async () => {
          outcomes = await importNotes(offered, assets, source);
        }),
      );
      return outcomes;
    },
    keepChange: () => readBesideChain((source) => readOwn(source, async () => undefined)),
    computeBalance: (assetId) => computeBalance(notes.listSpendable(assetId)),
    listSpendable: (assetId) => notes.listSpendable(assetId),
    isChange: ({ leafIndex }) => notes.isOwnSpend(leafIndex),
    listMovements: (assetId) =>
      buildHistory(
        notes.listCounted(assetId).map((note) => ({ note, spend: notes.findSpend(note) })),
        (leafIndex) => {
          const { root, isSpend } = store.readLeaf(leafIndex) ?? failLeaf(leafIndex);
          return { root: fieldToHex(root), isSpend };
        },
      ),
    async computePath(note) {
      try {
        await leafCheck.assertHonest([note.leafIndex]);
      } catch (error) {
        await forgetChanged();
        throw error;
      }
      const { path, root } = (await findTree()).findPath(note.leafIndex);
      const { commitments } = store.readLeaf(note.leafIndex) ?? { commitments: new Uint8Array() };
      const fields = Array.from({ length: commitments.length / 32 }, (_, slot) =>
        assertField(bytesToBigint(commitments.subarray(32 * slot, 32 * (slot + 1)))),
      );
      return {
        path: computeNotePath(fields, note.slot, path),
        noteRoot: root,
        block: store.block,
      };
    },
    async compareUses(assetId, uses) {
      const unspent = new Set(notes.listSpendable(assetId).map(({ nullifier }) => nullifier));
      const use = uses.find(({ nullifier }) => unspent.has(nullifier));
      if (use === undefined) {
        return;
      }
      if (store.block === undefined || store.block.number < use.finalBlock) {
        throw createNodeLags(history, store.block?.number, use.finalBlock);
      }
      const leaf = store.readLeaf(store.readRoots().indexOf(use.outRoot));
      if (leaf === undefined) {
        throw createIncomplete(history, 'it has no event of a spend that the pool counts as final');
      }
      await rewindStore(deps, leaf.blockNumber);
      throw createIncomplete(
        history,
        `the event of transaction ${leaf.txHash} names other nullifiers than the pool has`,
      );
    },
    progress: () => progress,
  };
}

/** A note is stored after its leaf. */
function failLeaf(leafIndex: number): never {
  throw new Error(`the store has a note of leaf ${leafIndex} and not the leaf`);
}

const idleProgress: SyncProgress = { isRunning: false, blocks: { read: 0, total: 0 }, notes: 0 };

function markSpends(notes: OwnNotes, store: NoteStore, fromLeaf: number): void {
  for (const spend of store.listSpends(fromLeaf)) {
    notes.markSpent(spend);
  }
}

/** Lets the scan wait until the chain's leaves of its notes are stored. */
function createLeafGate(store: NoteStore) {
  let change = Promise.withResolvers<void>();
  change.promise.catch(() => undefined);
  let hasEnded = false;
  return {
    async wait(leafIndex: number): Promise<number> {
      while (!hasEnded && store.leafCount <= leafIndex) {
        await change.promise;
      }
      return store.leafCount;
    },
    announce(): void {
      change.resolve();
      change = Promise.withResolvers<void>();
      change.promise.catch(() => undefined);
    },
    end(): void {
      hasEnded = true;
      change.resolve();
    },
    fail(error: unknown): void {
      change.reject(error);
    },
  };
}
