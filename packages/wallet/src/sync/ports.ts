/**
 * What the synchronisation of a holder's notes needs from outside (protocol §3, §4). The chain is the authority for which
 * commitments exist and which nullifiers are spent. The platform only delivers sealed notes.
 *
 * @module
 */
import type { AssetId, Field, Hex, Hex32 } from '@pool/core';
import type { NoteScanner } from '@pool/notes';
import type { NoteOwner } from '../note-ports.ts';

/** A final block. Public. */
export type BlockMark = { readonly number: number; readonly hash: Hex32 };

/** One leaf of the note tree, from the event that inserted it: a batch, or the outputs of a spend. Public. */
export type HistoryLeaf = {
  /** From 0 without gaps, over all trees of the pool. */
  readonly leafIndex: number;
  /** The leaf: root of the commitments. */
  readonly root: Field;
  /** Root of the note tree with this leaf. */
  readonly newRoot: Field;
  /** In slot order, dummies included. */
  readonly commitments: readonly Hex32[];
  /** What the spend used up, dummies included. Empty for a batch. */
  readonly nullifiers: readonly Hex32[];
  /** Of the outputs of a spend, in slot order. Empty for a batch: its event has their hash only. */
  readonly sealedNotes: readonly Hex[];
  readonly txHash: Hex32;
  readonly blockNumber: number;
};

/** The pool's events, through the agent's own RPC. Errors: `chain_unreachable` (retryable), `wrong_chain`. */
export type HistoryPort = {
  /** The node, for people: its host without path and credentials. */
  readonly node: string;
  fetchFinalBlock(): Promise<BlockMark>;
  /** Undefined: the RPC does not have the block. */
  fetchBlockHash(blockNumber: number): Promise<Hex32 | undefined>;
  /** Leaves of a range of blocks, both ends included, in the order of the chain. */
  fetchLeaves(fromBlock: number, toBlock: number): Promise<readonly HistoryLeaf[]>;
  /** Root of the newest note tree as of a block; 0 before the first leaf. */
  fetchNoteRoot(blockNumber: number): Promise<Field>;
};

/** A sealed note as the platform serves it. Nothing of it is trusted. */
export type DeliveredNote = {
  readonly commitment: Hex32;
  readonly sealed: string;
  /** Index of the leaf, by the platform. */
  readonly batchIndex: number;
  readonly slot: number;
};

export type DeliveryPort = {
  /**
   * One page of sealed notes.
   * @param cursor - of the page before; undefined: the first page
   */
  fetchPage(
    tokenSymbol: string,
    cursor: string | undefined,
  ): Promise<{
    /** The holder's own, by the platform, in the order of the note tree. */
    readonly notes: readonly DeliveredNote[];
    /** Notes that everybody is served, in the order in which the platform learned of them. */
    readonly open?: readonly DeliveredNote[] | undefined;
    /** The page is a file of the holder and not a listing: several entries can name one place, and one of them opens. */
    readonly isOwnFile?: true | undefined;
    readonly cursor?: string | undefined;
    /** How many own notes the listing has before this page now. Undefined: the platform does not say. */
    readonly before?: number | undefined;
  }>;
};

/** How far the listing of an asset was read. */
export type ListingPlace = {
  readonly cursor: string;
  /** Own notes that were listed before the cursor when it was reached. A larger number later: a note arrived behind the cursor. */
  readonly notes: number;
};

/** Cryptography on all cores. */
export type NoteKernels = Pick<NoteScanner, 'scan' | 'computeNullifiers' | 'hashPairs'>;

/** A note that the chain has and the holder's viewing key opens. Confidential. */
export type OwnNote = {
  readonly commitment: Field;
  readonly leafIndex: number;
  readonly slot: number;
  readonly assetId: AssetId;
  /** Base units, at least 1. */
  readonly amount: bigint;
  readonly nonce: Field;
  readonly memo: string | undefined;
  /** Secret until the note is spent. */
  readonly nullifier: Field;
  /** Transaction and block in which the holder received it. */
  readonly txHash: Hex32;
  readonly blockNumber: number;
};

/** Where a commitment is in the note tree. Public. */
export type NotePlace = {
  readonly leafIndex: number;
  readonly slot: number;
  readonly txHash: Hex32;
  readonly blockNumber: number;
};

/**
 * A note as its holder received it. It is not secret, but names what belongs to the holder. The ciphertext may exist nowhere else.
 * What it holds is verified against the chain whenever it is read.
 */
export type ArchivedNote = {
  readonly assetId: AssetId;
  readonly commitment: Field;
  /** 209 bytes (protocol §3). */
  readonly sealed: Hex;
  /** Where it was when it was archived. */
  readonly leafIndex: number;
  readonly slot: number;
  readonly txHash: Hex32;
};

/**
 * Every note that this holder ever received, in the order of arrival. Nothing removes a record: not a damaged cache, not a rescan, not
 * a chain that changed. Shared by all processes of one directory.
 *
 * Every method throws PoolError `note_cache_unavailable` if the file cannot be read or written.
 */
export type NoteArchive = {
  /** Position after the last record. A smaller one than before: the file was replaced or shortened. */
  readonly end: number;
  /**
   * On disk when it returns, or with {@link OpenNotes.save}.
   * @returns where the records begin and end; undefined: another process wrote at the same time
   */
  append(
    notes: readonly ArchivedNote[],
  ): { readonly start: number; readonly end: number } | undefined;
  /** Whole records from a position on, each with its own position and that after it. Damaged bytes are passed over. */
  read(from: number): Iterable<{
    readonly position: number;
    readonly end: number;
    readonly note: ArchivedNote;
  }>;
};

/** How far a store has taken the notes of the archive. */
export type ArchiveMark = {
  /** Records before this position were read. */
  readonly end: number;
  /** The first record whose commitment is not on the chain yet. Undefined: there is none. */
  readonly waitingFrom: number | undefined;
  /** Leaves that were searched for it. */
  readonly leafCount: number;
};

/** Whose notes, in which pool. A store belongs to exactly one. */
export type SyncIdentity = NoteOwner & { readonly deployedAtBlock: number };

export type StoredLeaf = {
  /** Root of the commitments. Of a spend: its outRoot. */
  readonly root: Field;
  /** True: the outputs of a spend. False: a batch. */
  readonly isSpend: boolean;
  /** 32 bytes each, in slot order. */
  readonly commitments: Uint8Array;
  readonly txHash: Hex32;
  readonly blockNumber: number;
};

export type StoredSpend = {
  readonly leafIndex: number;
  readonly nullifiers: readonly Field[];
  readonly txHash: Hex32;
  readonly blockNumber: number;
};

/** A note with the bytes that its holder received. */
export type ReceivedNote = OwnNote & { readonly sealed: Hex };

/** What was read of a source of notes, and is stored together with the notes. */
export type ReadMarks = {
  /** Undefined place: the listing begins anew. */
  readonly listing?: {
    readonly assetId: AssetId;
    readonly place: ListingPlace | undefined;
  };
  readonly archived?: ArchiveMark | undefined;
};

/**
 * The durable cache of one identity. Every write is one transaction that is on disk when it returns, or with {@link OpenNotes.save}.
 * Everything in it can be made again from the chain and the {@link NoteArchive}.
 *
 * Every method throws PoolError `note_cache_changed` if the contents are not those that were written or another process
 * wrote since the store was opened (open it again), and `note_cache_unavailable` if the file cannot be used now.
 */
export type NoteStore = {
  /** The newest block whose events are stored. Undefined: none. */
  readonly block: BlockMark | undefined;
  readonly leafCount: number;
  readonly archived: ArchiveMark;
  /** The leaves' own values, in order. */
  readRoots(): readonly Field[];
  /** Root of the note tree with the last leaf. 0: no leaf. */
  readLastRoot(): Field;
  readLeaf(leafIndex: number): StoredLeaf | undefined;
  /** Where commitments are among the leaves from an index on. Of several places of one, the first. */
  findPlaces(commitments: ReadonlySet<Field>, fromLeaf: number): ReadonlyMap<Field, NotePlace>;
  /** Spends among the leaves from this index on, in order. */
  listSpends(fromLeaf: number): Iterable<StoredSpend>;
  readNotes(): readonly OwnNote[];
  /** The same notes, as they were received. */
  listReceived(): Iterable<ArchivedNote>;
  /** Where the platform's listing of an asset is continued. Undefined: at its beginning. */
  readPlace(assetId: AssetId): ListingPlace | undefined;
  /** @param leaves - the next ones, in order; may be empty */
  appendLeaves(leaves: readonly HistoryLeaf[], upTo: BlockMark): void;
  /** @throws PoolError `note_history_incomplete` (retryable) if a note is not the one that its leaf has */
  appendNotes(notes: readonly ReceivedNote[], marks: ReadMarks): void;
  /**
   * Forgets every leaf after this block, the notes in them, and what was read of archive and listings. Undefined: forgets everything.
   * Archive the notes before.
   */
  rewind(upTo: BlockMark | undefined): void;
  close(): void;
};

/** Cache and archive of one identity. */
export type OpenNotes = {
  readonly store: NoteStore;
  readonly archive: NoteArchive;
  /**
   * Puts everything that was written on disk, where a write did not: archive and cache in one transaction. Call it before anything that
   * was read is shown or relied on.
   * @returns false if somebody else saved the cache since it was opened. What was read is right, and the archive has its notes; the cache
   *   does not: open it again before the next reading
   * @throws PoolError `note_cache_changed` if it is so, and what was written makes the next reading begin earlier: open it and write again
   */
  save(): Promise<boolean>;
};

export type SyncProgress = {
  readonly isRunning: boolean;
  /** Blocks of the chain that were read, of those that the sync has to read. */
  readonly blocks: { readonly read: number; readonly total: number };
  /** Sealed notes that were processed so far. */
  readonly notes: number;
};
