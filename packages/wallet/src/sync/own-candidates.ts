/**
 * Sealed notes that may be the holder's own: opens those whose commitment the chain has at their place. Neither platform, archive nor
 * file is trusted for anything but the ciphertext.
 *
 * @module
 */
import {
  type AssetId,
  assertField,
  bigintToHex32,
  bytesToBigint,
  type Field,
  type Hex,
  isField,
} from '@pool/core';
import type { LeafCheck } from './leaf-check.ts';
import type {
  ArchivedNote,
  NoteArchive,
  NoteKernels,
  NoteStore,
  OwnNote,
  ReceivedNote,
  StoredLeaf,
} from './ports.ts';

export type CandidateDeps = {
  readonly kernels: NoteKernels;
  readonly store: Pick<NoteStore, 'readLeaf'>;
  /** v, secret. */
  readonly viewingKey: bigint;
  readonly walletId: Field;
  /** Places of notes that are known. */
  readonly isKnown: (leafIndex: number, slot: number) => boolean;
  /** Asked about the leaves that do not have a commitment which a source names there: somebody lies, and it may be the node. */
  readonly leafCheck: Pick<LeafCheck, 'assertHonest'>;
};

/** A source of notes while the chain is read at the same time. */
export type NoteSourceDeps = CandidateDeps & {
  readonly store: NoteStore;
  readonly archive: NoteArchive;
  /** Resolves to the number of stored leaves once the leaf is stored, or when the history is complete. */
  readonly waitForLeaf: (leafIndex: number) => Promise<number>;
  /** After each write, with the notes that are new. */
  readonly onNotes: (processed: number, added: readonly OwnNote[]) => void;
};

/** Notes per scan and per write: a few batches of the kernels, a few seconds of work. */
export const notesPerScan = 4_096;

export type Candidate = {
  readonly assetId: AssetId;
  readonly leafIndex: number;
  readonly slot: number;
  /** By its source. */
  readonly commitment: bigint;
  readonly sealed: Hex;
};

/**
 * The candidates that the chain has at their place and v opens, without those that are known and without amounts of 0.
 * @throws PoolError `note_history_incomplete` (retryable) if the node changed a commitment
 */
export async function openCandidates(
  candidates: readonly Candidate[],
  { store, kernels, viewingKey, walletId, isKnown, leafCheck }: CandidateDeps,
): Promise<readonly ReceivedNote[]> {
  const readLeaf = createLeafReader(store);
  const doubted: number[] = [];
  const notes = candidates.flatMap(({ assetId, leafIndex, slot, sealed, commitment }) => {
    // What the source says about the commitment only saves a decryption: the chain's counts.
    const leaf = isKnown(leafIndex, slot) ? undefined : readLeaf(leafIndex);
    if (leaf === undefined) {
      return [];
    }
    if (!isField(commitment) || !hasCommitment(leaf, slot, commitment)) {
      doubted.push(leafIndex);
      return [];
    }
    const { txHash, blockNumber } = leaf;
    return [{ sealed, commitment, assetId, leafIndex, slot, txHash, blockNumber }];
  });
  await leafCheck.assertHonest(doubted);
  const found: Omit<ReceivedNote, 'nullifier'>[] = [];
  // Several candidates can name one place, and not every one opens.
  const taken = new Set<string>();
  for await (const { note, opened } of kernels.scan({ notes, viewingKey, walletId })) {
    // A note of amount 0 can pay nothing, and everybody can make one for free.
    const place = `${note.leafIndex}.${note.slot}`;
    if (opened.amount > 0n && !taken.has(place)) {
      taken.add(place);
      const { amount, nonce, memo } = opened;
      found.push({ ...note, amount, nonce: assertField(nonce), memo });
    }
  }
  const nullifiers = await kernels.computeNullifiers({ notes: found, viewingKey, walletId });
  return found.flatMap((note, place) => {
    const nullifier = nullifiers[place];
    return nullifier === undefined ? [] : [{ ...note, nullifier }];
  });
}

export function hasCommitment(
  { commitments }: Pick<StoredLeaf, 'commitments'>,
  slot: number,
  commitment: bigint,
): boolean {
  const word = commitments.subarray(32 * slot, 32 * (slot + 1));
  return word.length === 32 && bytesToBigint(word) === commitment;
}

/** Notes of one batch follow each other, so the last leaf is kept. */
export function createLeafReader(
  store: Pick<NoteStore, 'readLeaf'>,
): (leafIndex: number) => StoredLeaf | undefined {
  let last: { readonly index: number; readonly leaf: StoredLeaf | undefined } | undefined;
  return (index) => {
    if (last?.index !== index) {
      last = { index, leaf: store.readLeaf(index) };
    }
    return last.leaf;
  };
}

/**
 * Writes notes to the archive first, so that none is ever in the store alone. Then to the store.
 * @param listing - where the platform's listing continues, if they are from there
 */
export function keepNotes(
  received: readonly ReceivedNote[],
  { store, archive }: Pick<NoteSourceDeps, 'store' | 'archive'>,
  listing?: Parameters<NoteStore['appendNotes']>[1]['listing'],
): void {
  const written = archive.append(received);
  const mark = store.archived;
  // Nobody else wrote in between, so the store has everything that the archive has.
  const archived = written?.start === mark.end ? { ...mark, end: written.end } : undefined;
  store.appendNotes(received, { ...(listing === undefined ? {} : { listing }), archived });
}

/** Appends to the archive every note of the store that it does not have whole. Call it before anything is deleted from the store. */
export function archiveNotes(store: NoteStore, archive: NoteArchive): void {
  const kept = new Set<string>();
  for (const { note } of archive.read(0)) {
    kept.add(keyOf(note));
  }
  archive.append([...store.listReceived()].filter((note) => !kept.has(keyOf(note))));
}

function keyOf({ commitment, sealed }: ArchivedNote): string {
  return `${bigintToHex32(commitment)}${sealed}`;
}
