/**
 * Recomputes a witness after some wires were changed, from the rows alone: the witness program plays no part. Each wire that
 * follows from others is derived again (derivation.ts), in order, and every row with a changed wire is checked as soon as all its
 * wires are final. So an attack meets the constraints with consistent values downstream, as a dishonest prover would present them.
 */

import type { R1csMatrix } from '../../src/constraints/r1cs.ts';
import { R } from '../fund-batch.ts';
import { reduce } from '../modular.ts';
import { type Combination, type Derivation, listRows } from './derivation.ts';
import { type Digits, splitIntoDigits } from './digits.ts';
import { divide, listItems, type System } from './system.ts';

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

/** Integers, smallest first, each once. */
function createQueue() {
  const heap: number[] = [];
  const present = new Set<number>();
  const at = (index: number) => heap[index] ?? Number.POSITIVE_INFINITY;
  const swap = (left: number, right: number) => {
    [heap[left], heap[right]] = [at(right), at(left)];
  };
  return {
    push(item: number): void {
      if (present.has(item)) {
        return;
      }
      present.add(item);
      heap.push(item);
      for (let index = heap.length - 1; index > 0; ) {
        const parent = (index - 1) >> 1;
        if (at(parent) <= at(index)) {
          return;
        }
        swap(parent, index);
        index = parent;
      }
    },
    pop(): number | undefined {
      const [first] = heap;
      const last = heap.pop();
      if (first === undefined || last === undefined) {
        return undefined;
      }
      present.delete(first);
      if (heap.length > 0) {
        heap[0] = last;
        for (let index = 0; ; ) {
          const left = 2 * index + 1;
          const child = at(left + 1) < at(left) ? left + 1 : left;
          if (at(child) >= at(index)) {
            break;
          }
          swap(child, index);
          index = child;
        }
      }
      return first;
    },
  };
}

/** Steps by row, for rows that several steps read. */
function indexByRow(derivations: readonly Derivation[]): ReadonlyMap<number, readonly number[]> {
  const byRow = new Map<number, number[]>();
  for (const [step, derivation] of derivations.entries()) {
    for (const row of listRows(derivation)) {
      const steps = byRow.get(row);
      if (steps === undefined) {
        byRow.set(row, [step]);
      } else {
        steps.push(step);
      }
    }
  }
  return byRow;
}

/**
 * @param witness a witness that satisfies the system
 * @param programs of wires that the derivations leave free
 */
export function createRecompute(
  system: System,
  derivations: readonly Derivation[],
  witness: readonly bigint[],
  programs: readonly HintProgram[] = [],
): (attempt: Attempt) => Outcome {
  const { r1cs } = system;
  const { coefficients } = r1cs;
  const stepOf = new Int32Array(r1cs.wires).fill(-1);
  for (const [step, { wires }] of derivations.entries()) {
    for (const wire of wires) {
      stepOf[wire] = step;
    }
  }
  const stepsOfRow = indexByRow(derivations);
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
  return ({ values, digits: digitMode }) => {
    const changed = new Map<number, bigint>();
    const readWire = (wire: number): bigint => changed.get(wire) ?? witness[wire] ?? 0n;
    /** The sum of a side of a row. Wires in `zero` count as zero; `target` is left out and its coefficient returned. */
    const sum = (
      matrix: R1csMatrix,
      row: number,
      target: number,
      zero?: ReadonlySet<number>,
    ): [sum: bigint, coefficient: bigint] => {
      let total = 0n;
      let ofTarget = 0n;
      const end = matrix.rowStart[row + 1] ?? 0;
      for (let term = matrix.rowStart[row] ?? 0; term < end; term++) {
        const wire = matrix.wire[term] ?? 0;
        const coefficient = coefficients[matrix.coefficient[term] ?? 0] ?? 0n;
        if (wire === target) {
          ofTarget += coefficient;
        } else if (zero?.has(wire) !== true) {
          total += coefficient * readWire(wire);
        }
      }
      return [total % R, ofTarget % R];
    };
    /** A row as coefficient · target + rest. */
    const readAt = (row: number, target: number, zero?: ReadonlySet<number>) => {
      const [a, ofA] = sum(r1cs.a, row, target, zero);
      const [b, ofB] = sum(r1cs.b, row, target, zero);
      const [c, ofC] = sum(r1cs.c, row, target, zero);
      return {
        coefficient: reduce(ofA * b + ofB * a - ofC, R),
        rest: reduce(a * b - c, R),
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
    const derive = (derivation: Derivation): ReadonlyMap<number, bigint> => {
      const [wire = 0] = derivation.wires;
      switch (derivation.kind) {
        case 'solve': {
          const value = solve(derivation.row, wire);
          return new Map(value === undefined ? [] : [[wire, value]]);
        }
        case 'split': {
          const value = solve(derivation.whenNonZero, wire) ?? solve(derivation.whenZero, wire);
          return new Map(value === undefined ? [] : [[wire, value]]);
        }
        case 'digits':
        case 'linear': {
          const rest = evaluateRest(derivation.combination);
          const target = reduce(-rest, R);
          return derivation.digits === undefined
            ? new Map([[wire, target]])
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
        case 'free': {
          if (derivation.kind === 'argued' && derivation.row !== undefined) {
            const value = solve(derivation.row, wire);
            return new Map(value === undefined ? [] : [[wire, value]]);
          }
          return new Map(
            derivation.wires.flatMap((one) => {
              const program = programOf.get(one);
              const value = program?.compute(program.reads.map(readWire));
              return value === undefined ? [] : [[one, value] as const];
            }),
          );
        }
      }
    };
    const holds = (row: number): boolean => readAt(row, noWire).rest === 0n;

    // Even keys derive a step, odd keys check the rows that are final after it.
    const queue = createQueue();
    const due = new Map<number, number[]>();
    const mark = (wire: number, value: bigint): void => {
      if (readWire(wire) === value) {
        return;
      }
      changed.set(wire, value);
      const step = stepOf[wire] ?? -1;
      for (const reader of readers.get(wire) ?? []) {
        queue.push(2 * reader);
      }
      for (const row of listItems(system.rowsOfWire, wire)) {
        for (const next of stepsOfRow.get(row) ?? []) {
          if (next > step) {
            queue.push(2 * next);
          }
        }
        const key = 2 * (readyAt[row] ?? -1) + 1;
        const rows = due.get(key);
        if (rows === undefined) {
          due.set(key, [row]);
          queue.push(key);
        } else {
          rows.push(row);
        }
      }
    };
    for (const [wire, value] of values) {
      const step = stepOf[wire] ?? -1;
      if (step < 0) {
        mark(wire, value);
      } else {
        queue.push(2 * step);
      }
    }
    for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
      if (key % 2 === 0) {
        const derivation = derivations[key / 2];
        const derived = derivation === undefined ? new Map<number, bigint>() : derive(derivation);
        for (const wire of derivation?.wires ?? []) {
          const value = values.get(wire) ?? derived.get(wire);
          if (value !== undefined) {
            mark(wire, value);
          }
        }
      } else {
        for (const row of new Set(due.get(key))) {
          if (!holds(row)) {
            return { kind: 'rejected', row };
          }
        }
      }
    }
    for (const [wire, value] of changed) {
      if (value === witness[wire]) {
        changed.delete(wire);
      }
    }
    return changed.size === 0 ? { kind: 'unchanged' } : { kind: 'accepted', changed };
  };
}
