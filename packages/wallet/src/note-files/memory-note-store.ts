/**
 * The note cache and the note archive in memory. A browser loads their contents from its database and writes them there again
 * (src/browser/store); tests use them as they are.
 *
 * @module
 */
import {
  type AssetId,
  type Field,
  fieldToHex,
  hexToBytes,
  PoolError,
  parseField,
  zeroField,
} from '@pool/core';
import { hasCommitment } from '../sync/own-candidates.ts';
import type {
  ArchivedNote,
  ArchiveMark,
  BlockMark,
  HistoryLeaf,
  ListingPlace,
  NoteArchive,
  NotePlace,
  NoteStore,
  ReceivedNote,
  StoredLeaf,
} from '../sync/ports.ts';

/** Everything that a note cache has. Confidential. */
export type NoteStoreState = {
  /** From index 0, without gaps. */
  readonly leaves: readonly HistoryLeaf[];
  readonly notes: readonly ReceivedNote[];
  readonly block: BlockMark | undefined;
  readonly archived: ArchiveMark;
  /** By asset id. */
  readonly places: Readonly<Record<string, ListingPlace>>;
};

export type MemoryNoteStore = NoteStore & {
  /** Writes so far. */
  readonly writes: number;
  /** How often leaves and notes were taken away. Between two such times, both only grow. */
  readonly rewinds: number;
  /** As it is now. */
  readState(): NoteStoreState;
};

const beginning: ArchiveMark = { end: 0, waitingFrom: undefined, leafCount: 0 };

export const emptyNoteStore: NoteStoreState = {
  ...{ leaves: [], notes: [], block: undefined, archived: beginning, places: {} },
};

/** @param initial - as {@link MemoryNoteStore.readState} gave it */
export function createMemoryNoteStore(initial: NoteStoreState = emptyNoteStore): MemoryNoteStore {
  let { block, archived, places } = initial;
  let leaves = [...initial.leaves];
  let notes = [...initial.notes];
  let writes = 0;
  let rewinds = 0;

  function assertInLeaf({ leafIndex, slot, commitment }: ReceivedNote): void {
    const leaf = leaves[leafIndex];
    if (leaf === undefined || !hasCommitment(toStored(leaf), slot, commitment)) {
      // A scan was under way when the history was discarded: its notes were checked against leaves that are gone.
      throw new PoolError(
        'note_history_incomplete',
        'the history of these notes was discarded; the next reading starts it again',
      );
    }
  }

  return {
    get writes() {
      return writes;
    },
    get rewinds() {
      return rewinds;
    },
    readState: () => ({ leaves, notes, block, archived, places }),
    get block() {
      return block;
    },
    get leafCount() {
      return leaves.length;
    },
    get archived() {
      return archived;
    },
    readRoots: () => leaves.map(({ root }) => root),
    readLastRoot: () => leaves.at(-1)?.newRoot ?? zeroField,
    readLeaf(leafIndex) {
      const leaf = leaves[leafIndex];
      return leaf === undefined ? undefined : toStored(leaf);
    },
    findPlaces(commitments, fromLeaf) {
      const wanted = new Map<string, Field>(
        [...commitments].map((commitment) => [fieldToHex(commitment), commitment]),
      );
      const found = new Map<Field, NotePlace>();
      for (const { leafIndex, txHash, blockNumber, ...leaf } of leaves.slice(fromLeaf)) {
        leaf.commitments.forEach((word, slot) => {
          const commitment = wanted.get(word);
          if (commitment !== undefined && !found.has(commitment)) {
            found.set(commitment, { leafIndex, slot, txHash, blockNumber });
          }
        });
      }
      return found;
    },
    listSpends: (fromLeaf) =>
      leaves
        .slice(fromLeaf)
        .filter(({ nullifiers }) => nullifiers.length > 0)
        .map((leaf) => ({ ...leaf, nullifiers: leaf.nullifiers.map(parseField) })),
    readNotes: () => [...notes],
    listReceived: () => [...notes],
    readPlace: (assetId: AssetId) => places[fieldToHex(assetId)],
    appendLeaves(added, upTo) {
      writes += 1;
      leaves.push(...added);
      block = upTo;
    },
    appendNotes(added, marks) {
      added.forEach(assertInLeaf);
      writes += 1;
      notes.push(...added);
      archived = marks.archived ?? archived;
      if (marks.listing !== undefined) {
        const { assetId, place } = marks.listing;
        const { [fieldToHex(assetId)]: _, ...others } = places;
        places = place === undefined ? others : { ...others, [fieldToHex(assetId)]: place };
      }
    },
    rewind(upTo) {
      writes += 1;
      rewinds += 1;
      const last = upTo?.number ?? -1;
      leaves = leaves.filter(({ blockNumber }) => blockNumber <= last);
      notes = notes.filter(({ blockNumber }) => blockNumber <= last);
      block = upTo;
      archived = beginning;
      places = {};
    },
    close: () => undefined,
  };
}

function toStored({ root, nullifiers, commitments, txHash, blockNumber }: HistoryLeaf): StoredLeaf {
  return {
    root,
    isSpend: nullifiers.length > 0,
    commitments: hexToBytes(`0x${commitments.map((word) => word.slice(2)).join('')}`),
    txHash,
    blockNumber,
  };
}

export type MemoryNoteArchive = NoteArchive & {
  /** Positions are indexes. */
  records: ArchivedNote[];
};

export function createMemoryNoteArchive(records: readonly ArchivedNote[] = []): MemoryNoteArchive {
  const archive: MemoryNoteArchive = {
    records: [...records],
    get end() {
      return archive.records.length;
    },
    append(added) {
      const start = archive.records.length;
      archive.records.push(...added);
      return { start, end: archive.records.length };
    },
    *read(from) {
      for (const [offset, note] of archive.records.slice(from).entries()) {
        yield { position: from + offset, end: from + offset + 1, note };
      }
    },
  };
  return archive;
}
