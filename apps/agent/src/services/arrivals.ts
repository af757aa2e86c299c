/**
 * Which of the holder's notes are new since this process began, for `balance --watch`. A rescan finds all notes again, and none of them
 * is an arrival.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import type { AssetId, Field } from '@pool/core';
import type { NoteStore, OwnNote } from '@pool/operations';

export type Arrival = { readonly note: OwnNote; readonly seenAtMs: number };

export type Arrivals = {
  /** Oldest first. */
  readonly arrivals: readonly Arrival[];
  /** For the next call. */
  readonly cursor: string;
};

export type ArrivalLog = {
  /** The cache was opened: what it has is no arrival. */
  begin(store: Pick<NoteStore, 'readNotes' | 'leafCount'>): void;
  /** After a sync, with the notes that are new to the cache. */
  note(added: readonly OwnNote[]): void;
  /**
   * @param cursor - of an earlier call. Undefined: lists nothing. Of another process, which had listed what the cache has: lists
   *   everything since this one began
   */
  since(cursor: string | undefined, assetId: AssetId): Arrivals;
};

/** The newest are kept. */
const maxArrivals = 1_000;

export function createArrivalLog(nowMs: () => number): ArrivalLog {
  const process = randomBytes(8).toString('hex');
  let known: Set<Field> | undefined;
  /** The cache is filled for the first time: its notes are old, though new here. */
  let isFirstFill = false;
  let count = 0;
  let kept: (Arrival & { readonly number: number })[] = [];
  return {
    begin(store) {
      if (known === undefined) {
        known = new Set(store.readNotes().map(({ commitment }) => commitment));
        isFirstFill = store.leafCount === 0;
      }
    },
    note(added) {
      for (const note of added) {
        if (known?.has(note.commitment) !== true) {
          known?.add(note.commitment);
          if (!isFirstFill) {
            count += 1;
            kept.push({ note, seenAtMs: nowMs(), number: count });
          }
        }
      }
      isFirstFill = false;
      kept = kept.slice(-maxArrivals);
    },
    since(cursor, assetId) {
      const [from, seen] = cursor?.split('.') ?? [];
      const last = cursor === undefined ? count : from === process ? Number(seen) : 0;
      return {
        arrivals: kept.filter(({ number, note }) => number > last && note.assetId === assetId),
        cursor: `${process}.${count}`,
      };
    },
  };
}
