/**
 * The holder's notes in memory: which are spent, which count, and what they sum to. Pure.
 *
 * @module
 */
import type { AssetId, Field } from '@pool/core';
import type { OwnNote, StoredSpend } from './ports.ts';

/** What the holder can spend of one asset. Confidential. */
export type HolderBalance = {
  /** Base units. */
  readonly total: bigint;
  /** How many notes the total is spread across. */
  readonly notes: number;
  /** Base units of the largest of them; 0 if there is none. */
  readonly largestNote: bigint;
};

export type OwnNotes = ReturnType<typeof createOwnNotes>;

/** More slots than the largest batch has. */
const slots = 65_536;

export function createOwnNotes() {
  const byPlace = new Map<number, OwnNote>();
  /** Of the notes with one nullifier, the one that counts: a spend of any of them ends all. */
  const byNullifier = new Map<Field, OwnNote>();
  const spends = new Map<Field, StoredSpend>();
  const spendLeaves = new Set<number>();
  return {
    get size(): number {
      return byPlace.size;
    },
    has: (leafIndex: number, slot: number) => byPlace.has(leafIndex * slots + slot),
    add(notes: readonly OwnNote[]): void {
      for (const note of notes) {
        byPlace.set(note.leafIndex * slots + note.slot, note);
        const other = byNullifier.get(note.nullifier);
        if (other === undefined || isPreferred(note, other)) {
          byNullifier.set(note.nullifier, note);
        }
      }
    },
    /** Marks the notes that a spend used up. Nullifiers of other holders change nothing. */
    markSpent(spend: StoredSpend): void {
      for (const nullifier of spend.nullifiers) {
        if (byNullifier.has(nullifier)) {
          spends.set(nullifier, spend);
          spendLeaves.add(spend.leafIndex);
        }
      }
    },
    /** Unspent notes of an asset in the order of the tree. Of several notes with one nullifier only the largest. */
    listSpendable: (assetId: AssetId): readonly OwnNote[] =>
      [...byNullifier.values()]
        .filter((note) => note.assetId === assetId && !spends.has(note.nullifier))
        .sort(comparePlaces),
    /** The same, spent notes included. */
    listCounted: (assetId: AssetId): readonly OwnNote[] =>
      [...byNullifier.values()].filter((note) => note.assetId === assetId).sort(comparePlaces),
    /** The spend that used up a note, if one did. */
    findSpend: ({ nullifier }: OwnNote) => spends.get(nullifier),
    /** Whether a leaf is of a spend of the holder's own, so that its notes are change and no income. */
    isOwnSpend: (leafIndex: number) => spendLeaves.has(leafIndex),
  };
}

export function computeBalance(notes: readonly OwnNote[]): HolderBalance {
  let total = 0n;
  let largestNote = 0n;
  for (const { amount } of notes) {
    total += amount;
    largestNote = amount > largestNote ? amount : largestNote;
  }
  return { total, notes: notes.length, largestNote };
}

function isPreferred(note: OwnNote, other: OwnNote): boolean {
  return (
    note.amount > other.amount || (note.amount === other.amount && comparePlaces(note, other) < 0)
  );
}

function comparePlaces(left: OwnNote, right: OwnNote): number {
  return left.leafIndex - right.leafIndex || left.slot - right.slot;
}
