/**
 * Recomputes a witness after some wires were changed, from the rows alone: the witness program plays no part. Each wire that
 * follows from others is derived again (derivation.ts), in order, and every row with a changed wire is checked as soon as all its
 * wires are final. So an attack meets the constraints with consistent values downstream, as a dishonest prover would present them.
 */

import { R } from '../fund-batch.ts';
import { reduce } from '../modular.ts';
import { type Combination, type Derivation, listRows } from './derivation.ts';
import { type Digits, splitIntoDigits } from './digits.ts';
import type { RowSums } from './row-sums.ts';
import { divide, invertLists, type Lists, listItems, type System } from './system.ts';

/** How an honest prover computes a wire that no row determines. */
export type HintProgram = {
  readonly wire: number;
  readonly reads: readonly number[];
  readonly compute: (values: readonly bigint[]) => bigint;
};

export type Attempt = {
  /** The chosen values, by wire. */
  readonly values: ReadonlyMap<number, bigint>;
  /** The other digits of a changed sum: `resplit` so that the sum stays right, or `keep` them. */
  readonly digits: 'resplit' | 'keep';
};

export type Outcome =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'rejected'; readonly row: number }
  | { readonly kind: 'accepted'; readonly changed: ReadonlyMap<number, bigint> };

/** A target that no row contains. */
const noWire = -1;

/** Integers below `limit`, smallest first, each once. What is added is larger than what was taken, as steps follow from steps before. */
function createQueue(limit: number) {
  const words = new Uint32Array((limit >>> 5) + 1);
  let word = 0;
  return {
    push(item: number): void {
      const index = item >>> 5;
      words[index] = (words[index] ?? 0) | (1 << (item & 31));
      word = Math.min(word, index);
    },
    pop(): number | undefined {
      for (; word < words.length; word++) {
        const bits = words[word] ?? 0;
        if (bits !== 0) {
          words[word] = bits & (bits - 1);
          return 32 * word + 31 - Math.clz32(bits & -bits);
        }
      }
      return undefined;
    },
    clear(): void {
      words.fill(0);
      word = words.length;
    },
  };
}

/** Steps by the rows that they read. */
function indexByRow(derivations: readonly Derivation[], rows: number): Lists {
  const lists = derivations.map(listRows);
  const start = new Uint32Array(lists.length + 1);
  for (const [step, { length }] of lists.entries()) {
    start[step + 1] = (start[step] ?? 0) + length;
  }
  return invertLists({ start, items: Uint32Array.from(lists.flat()) }, rows);
}

/**
 * @param sums of a witness that satisfies the system. They are reset after each attempt
 * @param programs of wires that the derivations leave free
 */
export function createRecompute(
  system: System,
  derivations: readonly Derivation[],
  sums: RowSums,
  programs: readonly HintProgram[] = [],
): (attempt: Attempt) => Outcome {
  const { r1cs } = system;
  const stepOf = new Int32Array(r1cs.wires).fill(-1);
  for (const [step, { wires }] of derivations.entries()) {
    for (const wire of wires) {
      stepOf[wire] = step;
    }
  }
  const stepsOfRow = indexByRow(derivations, r1cs.constraints);
  const programOf = new Map(programs.map((program) => [program.wire, program]));
  const readers = new Map<number, number[]>();
  for (const { wire, reads } of programs) {
    const step = stepOf[wire] ?? -1;
    for (const read of reads) {
      if (step <= (stepOf[read] ?? -1)) {
        throw new RangeError(`The program of wire ${wire} reads wire ${read}, which comes later.`);
      }
      readers.set(read, [...(readers.get(read) ?? []), step]);
    }
  }
  /** The step after which all wires of a row are final. */
  const readyAt = new Int32Array(r1cs.constraints);
  for (let row = 0; row < r1cs.constraints; row++) {
    let last = -1;
    for (const wire of listItems(system.wiresOfRow, row)) {
      last = Math.max(last, stepOf[wire] ?? -1);
    }
    readyAt[row] = last;
  }
  // Key 2 s + 2 derives step s, key 2 s + 3 checks the rows that are final after it. Key 1 checks those that no step changes.
  const queue = createQueue(2 * derivations.length + 2);
  const due = new Map<number, number[]>();
  const digitWires = new Set(
    derivations.flatMap((derivation) =>
      'digits' in derivation && derivation.digits !== undefined ? derivation.wires : [],
    ),
  );
  const attack = ({ values, digits: digitMode }: Attempt): Outcome => {
    const readWire = sums.valueOf;
    /** A row as coefficient · target + rest. */
    const readAt = (row: number, target: number, zero?: ReadonlySet<number>) => {
      const { a, b, c } = sums.read(row, target, zero);
      return {
        coefficient: reduce(a.ofTarget * b.sum + b.ofTarget * a.sum - c.ofTarget, R),
        rest: reduce(a.sum * b.sum - c.sum, R),
      };
    };
    const solve = (row: number, wire: number): bigint | undefined => {
      const { coefficient, rest } = readAt(row, wire);
      return coefficient === 0n ? undefined : divide(R - rest, coefficient);
    };
    const evaluateRest = ({ rows, unknown }: Combination): bigint => {
      let total = 0n;
      for (const [row, factor] of rows) {
        total += factor * readAt(row, noWire, unknown).rest;
      }
      return total % R;
    };
    const split = (all: Digits, target: bigint): ReadonlyMap<number, bigint> => {
      if (!all.digits.some(({ wire }) => values.has(wire))) {
        return splitIntoDigits(all, target);
      }
      if (digitMode === 'keep') {
        return new Map();
      }
      let left = target * all.factor;
      for (const { wire, coefficient } of all.digits) {
        left -= coefficient * (values.get(wire) ?? 0n);
      }
      const digits = all.digits.filter(({ wire }) => !values.has(wire));
      return splitIntoDigits({ ...all, factor: 1n, digits }, left);
    };
    /** The value of a step with one wire that a row gives. */
    const deriveOne = (derivation: Derivation): bigint | undefined => {
      const [wire = 0] = derivation.wires;
      switch (derivation.kind) {
        case 'solve':
          return solve(derivation.row, wire);
        case 'split':
          return solve(derivation.whenNonZero, wire) ?? solve(derivation.whenZero, wire);
        case 'argued':
          return derivation.row === undefined ? undefined : solve(derivation.row, wire);
        default:
          return undefined;
      }
    };
    const deriveAll = (derivation: Derivation): ReadonlyMap<number, bigint> => {
      switch (derivation.kind) {
        case 'digits':
        case 'linear': {
          const rest = evaluateRest(derivation.combination);
          const target = reduce(-rest, R);
          return derivation.digits === undefined
            ? new Map([[derivation.wires[0] ?? 0, target]])
            : split(derivation.digits, target);
        }
        case 'select': {
          const results = new Map<number, bigint>();
          let chosen: number | undefined;
          for (const [index, row] of derivation.products.entries()) {
            const candidate = derivation.wires[index] ?? 0;
            if (readAt(row, candidate).coefficient === 0n) {
              chosen = candidate;
            }
            results.set(candidate, 0n);
          }
          if (chosen !== undefined) {
            const { coefficient } = readAt(derivation.sum, chosen);
            const { rest } = readAt(derivation.sum, chosen, new Set(derivation.wires));
            results.set(chosen, divide(R - rest, coefficient));
          }
          return results;
        }
        case 'place': {
          const unset = new Set(derivation.wires);
          const { rest } = readAt(derivation.places, noWire, unset);
          const chosen = derivation.wires.find((candidate) => {
            const { coefficient } = readAt(derivation.places, candidate, unset);
            return (coefficient + rest) % R === 0n;
          });
          return new Map(derivation.wires.map((one) => [one, one === chosen ? 1n : 0n]));
        }
        case 'argued':
        case 'free':
          return new Map(
            (listRows(derivation).length === 0 ? derivation.wires : []).flatMap((one) => {
              const program = programOf.get(one);
              const value = program?.compute(program.reads.map(readWire));
              return value === undefined ? [] : [[one, value] as const];
            }),
          );
        default:
          return new Map();
      }
    };
    const changed = new Set<number>();
    let step = -1;
    // Later changes of the row come from later steps, so what it asks for now is still to come then.
    const touch = (row: number): void => {
      if (system.isLeftOut(row)) {
        return;
      }
      const end = stepsOfRow.start[row + 1] ?? 0;
      for (let index = stepsOfRow.start[row] ?? 0; index < end; index++) {
        const next = stepsOfRow.items[index] ?? 0;
        if (next > step) {
          queue.push(2 * next + 2);
        }
      }
      const key = 2 * (readyAt[row] ?? -1) + 3;
      const rows = due.get(key);
      if (rows === undefined) {
        due.set(key, [row]);
        queue.push(key);
      } else {
        rows.push(row);
      }
    };
    const mark = (wire: number, value: bigint): void => {
      if (readWire(wire) === value) {
        return;
      }
      changed.add(wire);
      for (const reader of readers.get(wire) ?? []) {
        queue.push(2 * reader + 2);
      }
      sums.set(wire, value, touch);
    };
    for (const [wire, value] of values) {
      const own = stepOf[wire] ?? -1;
      if (own < 0) {
        mark(wire, value);
      } else {
        queue.push(2 * own + 2);
      }
    }
    for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
      step = (key >> 1) - 1;
      const derivation = key % 2 === 0 ? derivations[step] : undefined;
      if (derivation !== undefined) {
        const [first = 0] = derivation.wires;
        const one = deriveOne(derivation);
        const derived = one === undefined ? deriveAll(derivation) : new Map([[first, one]]);
        for (const wire of derivation.wires) {
          const value = values.get(wire) ?? derived.get(wire);
          if (value !== undefined) {
            mark(wire, value);
          }
        }
        continue;
      }
      const row = due.get(key)?.find((one) => !sums.holds(one));
      if (row !== undefined) {
        return { kind: 'rejected', row };
      }
    }
    const accepted = [...changed].filter((wire) => readWire(wire) !== sums.honestValueOf(wire));
    return accepted.length === 0
      ? { kind: 'unchanged' }
      : { kind: 'accepted', changed: new Map(accepted.map((wire) => [wire, readWire(wire)])) };
  };
  const outcomes = new WeakMap<Attempt['values'], Outcome>();
  return (attempt) => {
    const { values } = attempt;
    const known = outcomes.get(values);
    if (known !== undefined) {
      return known;
    }
    const outcome = attack(attempt);
    queue.clear();
    due.clear();
    sums.reset();
    // What becomes of other digits matters only to a wire that is a digit.
    if (![...values.keys()].some((wire) => digitWires.has(wire))) {
      outcomes.set(values, outcome);
    }
    return outcome;
  };
}
