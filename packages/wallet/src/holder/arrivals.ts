/**
 * Which of the holder's notes are new since this process began, for `balance --watch`. A rescan finds all notes again, and none of them
 * is an arrival.
 *
 * @module
 */
import type { AssetId, Field } from '@pool/core';
import type { NoteStore, OwnNote } from '../sync/ports.ts';

export type Arrival = { readonly note: OwnNote; readonly seenAtMs: number };

export type Arrivals = {
  /** Oldest first. */
  readonly arrivals: readonly Arrival[];
  /** For the next call. A query parameter: it has hexadecimal digits, hyphens and dots only. */
  readonly cursor: string;
};

/** The newest are kept. */
const maxArrivals = 1_000;

/** One cache. */
type Begun = {
  readonly known: Set<Field>;
  /** The cache is filled for the first time: its notes are old, though new here. */
  isFirstFill: boolean;
};

export function createArrivalLog(nowMs: () => number) {
  const process = crypto.randomUUID();
  const begun = new Map<string, Begun>();
  let count = 0;
  let kept: (Arrival & { readonly number: number })[] = [];

  function keep(note: OwnNote): void {
    count += 1;
    kept.push({ note, seenAtMs: nowMs(), number: count });
  }

  function add({ known, isFirstFill }: Begun, notes: readonly OwnNote[]): readonly OwnNote[] {
    const added = notes.filter(({ commitment }) => !known.has(commitment));
    for (const { commitment } of added) {
      known.add(commitment);
    }
    return isFirstFill ? [] : added;
  }

  return {
    /**
     * A cache was opened. What it had when it was opened first is no arrival. What it has more at a later opening was stored by another
     * process, or by a sync that then failed: it is, once.
     * @param name - of the cache: its chain and P
     * @param isChange - of a note of the cache: it is of a spend of the holder
     */
    begin(
      name: string,
      store: Pick<NoteStore, 'readNotes' | 'leafCount'>,
      isChange: (note: OwnNote) => boolean,
    ): void {
      const before = begun.get(name);
      const current = before ?? { known: new Set(), isFirstFill: true };
      const added = add(current, store.readNotes());
      if (before === undefined) {
        begun.set(name, current);
        current.isFirstFill = store.leafCount === 0;
      }
      for (const note of added) {
        if (!isChange(note)) {
          keep(note);
        }
      }
      kept = kept.slice(-maxArrivals);
    },
    /** After a sync of a cache, with the notes that are new to it. */
    note(name: string, added: readonly OwnNote[]): void {
      const current = begun.get(name);
      if (current === undefined) {
        return;
      }
      for (const note of add(current, added)) {
        keep(note);
      }
      current.isFirstFill = false;
      kept = kept.slice(-maxArrivals);
    },
    /**
     * @param cursor - of an earlier call. Undefined: lists nothing. Of another process, which had listed what the cache has: lists
     *   everything since this one began
     */
    since(cursor: string | undefined, assetId: AssetId): Arrivals {
      const [from, seen] = cursor?.split('.') ?? [];
      const last = cursor === undefined ? count : from === process ? Number(seen) : 0;
      return {
        arrivals: kept.filter(({ number, note }) => number > last && note.assetId === assetId),
        cursor: `${process}.${count}`,
      };
    },
  };
}
