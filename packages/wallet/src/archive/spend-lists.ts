/**
 * What the lists of an archive of spends have, for an archive that reads all its spends at once.
 *
 * @module
 */
import type { Hex32 } from '@pool/core';
import type { ArchivedSpend } from './spend-archive.ts';
import { holdsInputs, isOpen } from './spend-state.ts';

type Spends = readonly ArchivedSpend[];

/** Each list is in the order of its input. See `SpendArchive` for what each of them is. */
export const selectSpends = {
  open: (all: Spends): Spends => all.filter(({ state }) => isOpen(state)),
  recent: (all: Spends, sinceMs: number): Spends =>
    all.filter(
      ({ state, createdAtMs, concludedAtMs = 0 }) =>
        isOpen(state) || Math.max(createdAtMs, concludedAtMs) >= sinceMs,
    ),
  locked: (all: Spends): ReadonlySet<Hex32> => new Set(all.flatMap(listHeld)),
  unkept: (all: Spends): Spends =>
    all.filter(({ secrets, isChangeKept }) => secrets !== undefined && isChangeKept === undefined),
  erasable: (all: Spends, createdBeforeMs: number, limit: number): Spends =>
    all
      .filter(
        ({ state, secrets, createdAtMs }) =>
          !isOpen(state) && secrets !== undefined && createdAtMs < createdBeforeMs,
      )
      .slice(0, limit),
};

/** Inputs of a spend that no other one may use. */
export function listHeld({ state, inputNullifiers }: ArchivedSpend): readonly Hex32[] {
  return holdsInputs(state) ? inputNullifiers : [];
}
