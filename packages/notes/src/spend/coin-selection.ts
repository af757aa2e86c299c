/**
 * Which notes pay a spend: the fewest, and of those the ones that leave the least change. A spend proves that all its inputs are one
 * viewing key's (protocol §6), so notes are grouped by P. Locked notes are excluded: an earlier spend may still use them.
 *
 * Every choice depends on the notes alone, not on their order, so the same request makes the same choice on every host.
 *
 * @module
 */
import {
  type EncryptionPublicKey,
  type Field,
  type SpendCircuit,
  spendCircuits,
  spendShapes,
} from '@pool/core';

/** An unspent note of the holder. Confidential. */
export type SpendableNote = {
  /** c. Unique; it breaks ties. */
  readonly commitment: Field;
  /** Base units. Notes of amount 0 are never selected. */
  readonly amount: bigint;
  /** The P that the note is sealed to. */
  readonly encryptionPublicKey: EncryptionPublicKey;
  /** An earlier spend holds this note until its outcome is final. */
  readonly isLocked: boolean;
};

export type CoinShortage =
  /** The holder cannot cover the amount. `spendable`: the sum of the notes that are not locked. */
  | { readonly kind: 'insufficient'; readonly spendable: bigint }
  /** The notes cover the amount, but not with so many inputs. `largestSpend`: what one spend can cover without consolidation. */
  | {
      readonly kind: 'consolidation-required';
      readonly spendable: bigint;
      readonly largestSpend: bigint;
    };

export type SelectedCoins<TNote> = {
  readonly kind: 'selected';
  /** All of one P, the largest first. */
  readonly notes: readonly TNote[];
  /** What returns to the holder, in base units. */
  readonly changeAmount: bigint;
};

export type PlannedSpend<TNote> =
  | (SelectedCoins<TNote> & { readonly circuit: SpendCircuit })
  | CoinShortage
  /** No circuit has so many outputs beside the change. */
  | { readonly kind: 'too-many-recipients'; readonly maxRecipients: number };

/**
 * Chooses the smallest circuit whose outputs hold the recipients and whose inputs cover the amount, and its notes.
 *
 * @param amount - of all recipients and the withdrawal together, base units, at least 1
 * @param recipients - outputs beside the change; 0 for a withdrawal
 */
export function planSpend<TNote extends SpendableNote>(
  notes: readonly TNote[],
  amount: bigint,
  recipients: number,
): PlannedSpend<TNote> {
  // Slot 0 of the outputs is the change.
  const placesOf = (circuit: SpendCircuit): number => spendShapes[circuit].outputs - 1;
  let shortage: CoinShortage | undefined;
  for (const circuit of spendCircuits.filter((name) => recipients <= placesOf(name))) {
    const selection = selectCoins(notes, amount, spendShapes[circuit].inputs);
    if (selection.kind === 'selected') {
      return { ...selection, circuit };
    }
    shortage = selection;
  }
  const maxRecipients = Math.max(...spendCircuits.map(placesOf));
  return shortage ?? { kind: 'too-many-recipients', maxRecipients };
}

/**
 * Selects notes of one P that cover an amount: the fewest, then those with the least change. Ties are broken by P and by commitment.
 *
 * The result is exact for 1 and 2 inputs. For more inputs the search for less change ends after a fixed number of steps, and the best
 * selection so far is returned. The number of inputs is always the smallest.
 *
 * @param amount - base units, at least 1
 * @param maxInputs - inputs of the circuit, at least 1
 */
export function selectCoins<TNote extends SpendableNote>(
  notes: readonly TNote[],
  amount: bigint,
  maxInputs: number,
): SelectedCoins<TNote> | CoinShortage {
  const groups = groupByKey(notes);
  const spendable = sum(groups.flat());
  if (spendable < amount) {
    return { kind: 'insufficient', spendable };
  }
  const counts = groups.map((group) => countFewest(group, amount));
  const fewest = Math.min(...counts);
  if (fewest > maxInputs) {
    const largest = groups.map((group) => group.slice(0, maxInputs));
    const [most = []] = largest.sort((left, right) => (sum(left) > sum(right) ? -1 : 1));
    return { kind: 'consolidation-required', spendable, largestSpend: sum(most) };
  }
  const candidates = groups
    .filter((_, index) => counts[index] === fewest)
    .map((group) => findLeastChange(group, amount, fewest));
  // The groups are ordered by P, so the first of equal candidates is the same on every host.
  const best = candidates.reduce((left, right) => (sum(right) < sum(left) ? right : left));
  return { kind: 'selected', notes: best, changeAmount: sum(best) - amount };
}

/** Notes that can be spent, by P in its order, each group from the largest to the smallest. */
function groupByKey<TNote extends SpendableNote>(notes: readonly TNote[]): readonly TNote[][] {
  const free = notes.filter(({ isLocked, amount }) => !isLocked && amount > 0n);
  return [...Map.groupBy(free, (note) => note.encryptionPublicKey)]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, group]) => group.sort(compareLargestFirst));
}

/** From the largest; equal amounts by commitment. */
export function compareLargestFirst(left: SpendableNote, right: SpendableNote): number {
  if (left.amount !== right.amount) {
    return left.amount > right.amount ? -1 : 1;
  }
  return left.commitment < right.commitment ? -1 : 1;
}

export function sum(notes: readonly SpendableNote[]): bigint {
  return notes.reduce((total, { amount }) => total + amount, 0n);
}

/** How many of the largest notes cover the amount; infinity if all of them do not. */
function countFewest(group: readonly SpendableNote[], amount: bigint): number {
  let total = 0n;
  const last = group.findIndex((note) => {
    total += note.amount;
    return total >= amount;
  });
  return last === -1 ? Number.POSITIVE_INFINITY : last + 1;
}

/** Steps after which the search for less change returns its best result so far: some 50 ms. */
const maxSearchSteps = 100_000;

/**
 * Of all selections of `count` notes that cover the amount, the one with the smallest sum. It begins with the best of the selections
 * whose notes lie next to each other, except for the last note. A depth-first search then looks for a smaller sum. Bounds by the
 * largest and smallest sums that can still be reached exclude most branches.
 *
 * @param group - from the largest to the smallest; its first `count` notes cover the amount
 */
function findLeastChange<TNote extends SpendableNote>(
  group: readonly TNote[],
  amount: bigint,
  count: number,
): readonly TNote[] {
  const prefixSums = [0n];
  for (const note of group) {
    prefixSums.push((prefixSums.at(-1) ?? 0n) + note.amount);
  }
  const sumOf = (from: number, length: number): bigint =>
    (prefixSums[from + length] ?? 0n) - (prefixSums[from] ?? 0n);
  let best: readonly number[] = Array.from({ length: count }, (_, index) => index);
  let bestSum = sumOf(0, count);
  let steps = 0;

  /** Adds the last note: the smallest that still covers the rest leaves the least change. */
  function complete(chosen: readonly number[], total: bigint, from: number): void {
    const last = findLastCovering(group, from, amount - total);
    const found = total + (group[last]?.amount ?? 0n);
    if (last >= from && found < bestSum) {
      best = [...chosen, last];
      bestSum = found;
    }
  }

  function search(chosen: readonly number[], total: bigint, from: number): void {
    const missing = count - chosen.length;
    if (missing === 1) {
      complete(chosen, total, from);
      return;
    }
    for (let index = from; index + missing <= group.length; index += 1) {
      steps += 1;
      const isHopeless = total + sumOf(index, missing) < amount;
      if (isHopeless || bestSum === amount || steps > maxSearchSteps) {
        return;
      }
      const next = total + sumOf(index, 1);
      // A note of the same amount was tried in this place, with more notes after it.
      const isRepeated = index > from && sumOf(index, 1) === sumOf(index - 1, 1);
      const leastSum = next + sumOf(group.length - missing + 1, missing - 1);
      if (!isRepeated && leastSum < bestSum) {
        search([...chosen, index], next, index + 1);
      }
    }
  }

  for (let from = 0; from + count <= group.length; from += 1) {
    const chosen = Array.from({ length: count - 1 }, (_, offset) => from + offset);
    complete(chosen, sumOf(from, count - 1), from + count - 1);
  }
  search([], 0n, 0);
  return best.flatMap((index) => group[index] ?? []);
}

/** The last index from `from` on whose amount is at least `rest`, by bisection; below `from` if there is none. */
function findLastCovering(group: readonly SpendableNote[], from: number, rest: bigint): number {
  let low = from;
  let high = group.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((group[middle]?.amount ?? 0n) >= rest) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - 1;
}
