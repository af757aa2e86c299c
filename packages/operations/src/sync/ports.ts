/**
 * What the synchronisation of a holder's notes needs from outside (protocol §3, §4). The chain is the authority for which
 * commitments exist and which nullifiers are spent. The platform only delivers sealed notes.
 *
 * @module
 */
import type { AssetId, EncryptionPublicKey, EvmAddress, Field, Hex32, WalletPub } from '@pool/core';
import type { NoteScanner } from '@pool/notes';

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
  readonly txHash: Hex32;
  readonly blockNumber: number;
};

/** The pool's events, through the agent's own RPC. Errors: `chain_unreachable` (retryable), `wrong_chain`. */
export type HistoryPort = {
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
   * One page of the holder's sealed notes, oldest first.
   * @param cursor - of the page before; undefined: the first page
   */
  fetchPage(
    tokenSymbol: string,
    cursor: string | undefined,
  ): Promise<{ readonly notes: readonly DeliveredNote[]; readonly cursor?: string | undefined }>;
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

/** Whose notes, in which pool. A store belongs to exactly one. */
export type SyncIdentity = {
  readonly chainId: number;
  readonly pool: EvmAddress;
  readonly deployedAtBlock: number;
  readonly walletPub: WalletPub;
  readonly encryptionPublicKey: EncryptionPublicKey;
};

export type StoredLeaf = {
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

/**
 * The durable cache of one identity. Every write is one transaction that is on disk when it returns. Everything in it can be made
 * again from chain and platform.
 *
 * Every method throws PoolError `note_cache_damaged` if the contents are not those that were written, and `note_cache_changed` if
 * another process wrote since the store was opened: open it again.
 */
export type NoteStore = {
  /** The newest block whose events are stored. Undefined: none. */
  readonly block: BlockMark | undefined;
  readonly leafCount: number;
  /** The leaves' own values, in order. */
  readRoots(): readonly Field[];
  /** Root of the note tree with the last leaf. 0: no leaf. */
  readLastRoot(): Field;
  readLeaf(leafIndex: number): StoredLeaf | undefined;
  /** Spends among the leaves from this index on, in order. */
  listSpends(fromLeaf: number): Iterable<StoredSpend>;
  readNotes(): readonly OwnNote[];
  /** Where the platform's listing of an asset is continued. Undefined: at its beginning. */
  readCursor(assetId: AssetId): string | undefined;
  /** @param leaves - the next ones, in order; may be empty */
  appendLeaves(leaves: readonly HistoryLeaf[], upTo: BlockMark): void;
  appendNotes(assetId: AssetId, notes: readonly OwnNote[], cursor: string | undefined): void;
  /** Forgets every leaf after this block, the notes in them, and all cursors. Undefined: forgets everything. */
  rewind(upTo: BlockMark | undefined): void;
  close(): void;
};

export type SyncProgress = {
  readonly isRunning: boolean;
  /** Blocks of the chain that were read, of those that the sync has to read. */
  readonly blocks: { readonly read: number; readonly total: number };
  /** Sealed notes that were processed so far. */
  readonly notes: number;
};
