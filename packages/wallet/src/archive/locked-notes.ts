/**
 * What spends that are underway hold of a holder's notes, and until when. Pure.
 *
 * @module
 */
import { type Field, fieldToHex, type Hex32 } from '@pool/core';
import type { ArchivedSpend } from './spend-archive.ts';

/** Notes that count in the balance and cannot be spent now. Confidential. */
export type LockedNotes = {
  /** Base units. */
  readonly amount: bigint;
  /** Unix seconds. The last of them is free, or spent, once a block after this time is final. */
  readonly untilSeconds: number;
};

/** A note with until when an open spend holds it. */
export type LockableNote = {
  readonly amount: bigint;
  /** Unix seconds. Undefined: no open spend holds it. */
  readonly lockedUntilSeconds: number | undefined;
};

/** @param open - spends that are not decided */
export function markLocked<TNote extends { readonly nullifier: Field }>(
  notes: readonly TNote[],
  open: readonly Pick<ArchivedSpend, 'inputNullifiers' | 'deadline'>[],
): readonly (TNote & Pick<LockableNote, 'lockedUntilSeconds'>)[] {
  const deadlines = new Map<Hex32, number>(
    open.flatMap(({ inputNullifiers, deadline }) =>
      inputNullifiers.map((nullifier) => [nullifier, deadline] as const),
    ),
  );
  return notes.map((note) => ({
    ...note,
    lockedUntilSeconds: deadlines.get(fieldToHex(note.nullifier)),
  }));
}

/** @returns undefined: none of them is held */
export function sumLocked(notes: readonly LockableNote[]): LockedNotes | undefined {
  let amount = 0n;
  let untilSeconds = 0;
  for (const note of notes) {
    if (note.lockedUntilSeconds !== undefined) {
      amount += note.amount;
      untilSeconds = Math.max(untilSeconds, note.lockedUntilSeconds);
    }
  }
  return amount === 0n ? undefined : { amount, untilSeconds };
}

/** As fields of an answer. */
export function describeLocked({ amount, untilSeconds }: LockedNotes): {
  readonly locked: string;
  readonly lockedUntil: string;
} {
  return {
    locked: amount.toString(),
    lockedUntil: `${new Date(untilSeconds * 1_000).toISOString().slice(0, 19)}Z`,
  };
}
