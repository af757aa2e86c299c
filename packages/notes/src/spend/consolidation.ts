/**
 * Which spends to oneself make an amount spendable at once. Each step merges notes of one P into one note under the newest P
 * (protocol §6: the change slot).
 *
 * @module
 */
import type { EncryptionPublicKey } from '@pool/core';
import {
  type CoinShortage,
  compareLargestFirst,
  type SpendableNote,
  selectCoins,
  sum,
} from './coin-selection.ts';

/** One spend that pays only its own change. */
export type ConsolidationStep<TNote> = {
  /** Existing notes that it spends, all of one P. */
  readonly notes: readonly TNote[];
  /** Earlier steps, by their index, whose output it spends. Their outputs must be final first. Empty: it can start at once. */
  readonly outputsOf: readonly number[];
  /** Amount of the note that it makes, base units. */
  readonly amount: bigint;
};

export type ConsolidationPlan<TNote> =
  | { readonly kind: 'planned'; readonly steps: readonly ConsolidationStep<TNote>[] }
  | Extract<CoinShortage, { readonly kind: 'insufficient' }>;

export type ConsolidationOptions = {
  /** Inputs of the circuit, at least 2. */
  readonly maxInputs: number;
  /** P of the change: the newest one whose viewing key the holder has. */
  readonly changeKey: EncryptionPublicKey;
  /** The amount that one spend must cover afterwards, base units. Omitted: everything that is not locked. */
  readonly until?: bigint;
};

/**
 * Plans the steps after which one spend of at most `maxInputs` inputs covers the amount. It uses the fewest notes that cover the
 * amount and merges the smallest of them first. No steps: one spend covers it already.
 */
export function planConsolidation<TNote extends SpendableNote>(
  notes: readonly TNote[],
  { maxInputs, changeKey, until }: ConsolidationOptions,
): ConsolidationPlan<TNote> {
  const free = notes.filter(({ isLocked, amount }) => !isLocked && amount > 0n);
  const spendable = sum(free);
  const target = until ?? spendable;
  if (spendable < target) {
    return { kind: 'insufficient', spendable };
  }
  if (target === 0n || selectCoins(free, target, maxInputs).kind === 'selected') {
    return { kind: 'planned', steps: [] };
  }
  return { kind: 'planned', steps: planSteps(takeLargest(free, target), maxInputs, changeKey) };
}

/** The fewest notes that cover the target. */
function takeLargest<TNote extends SpendableNote>(free: readonly TNote[], target: bigint): TNote[] {
  const taken: TNote[] = [];
  let total = 0n;
  for (const note of [...free].sort(compareLargestFirst)) {
    if (total >= target) {
      break;
    }
    taken.push(note);
    total += note.amount;
  }
  return taken;
}

/** A note under the newest P: one that exists, or the output of a step. */
type Item<TNote> = { readonly amount: bigint } & (
  | { readonly note: TNote }
  | { readonly step: number }
);

function planSteps<TNote extends SpendableNote>(
  taken: readonly TNote[],
  maxInputs: number,
  changeKey: EncryptionPublicKey,
): readonly ConsolidationStep<TNote>[] {
  const steps: ConsolidationStep<TNote>[] = [];
  const smallestFirst = [...taken].reverse();
  const items: Item<TNote>[] = smallestFirst
    .filter(({ encryptionPublicKey }) => encryptionPublicKey === changeKey)
    .map((note) => ({ amount: note.amount, note }));

  function merge(inputs: readonly Item<TNote>[]): void {
    const amount = inputs.reduce((total, input) => total + input.amount, 0n);
    steps.push({
      notes: inputs.flatMap((input) => ('note' in input ? [input.note] : [])),
      outputsOf: inputs.flatMap((input) => ('step' in input ? [input.step] : [])),
      amount,
    });
    // Outputs wait behind the notes that exist, so that as many steps as possible can start at once.
    items.push({ amount, step: steps.length - 1 });
  }

  // Notes of an earlier P are brought under the newest one first: the inputs of one spend share their P.
  const earlierKeys = [...new Set(taken.map(({ encryptionPublicKey }) => encryptionPublicKey))]
    .filter((key) => key !== changeKey)
    .sort();
  for (const key of earlierKeys) {
    const group = smallestFirst.filter(({ encryptionPublicKey }) => encryptionPublicKey === key);
    for (let from = 0; from < group.length; from += maxInputs) {
      const chunk = group.slice(from, from + maxInputs);
      merge(chunk.map((note) => ({ amount: note.amount, note })));
    }
  }
  while (items.length > maxInputs) {
    merge(items.splice(0, Math.min(maxInputs, items.length - maxInputs + 1)));
  }
  return steps;
}
