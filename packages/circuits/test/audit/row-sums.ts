/**
 * The sums A, B and C of each row for a witness that changes wire by wire. A change adds coefficient · difference to the sums that contain
 * the wire and leaves all others alone, so an attack on a few wires costs a few multiplications. Equal sums are kept once: the
 * rows of an S-box contain its input three times.
 */

import type { R1cs } from '../../src/constraints/r1cs.ts';
import { R } from '../fund-batch.ts';
import { center, invertLists, type Lists } from './system.ts';

/** The sum of a side of a row without a target, and the target's coefficient. */
type Side = { readonly sum: bigint; readonly ofTarget: bigint };

export type RowSums = {
  readonly valueOf: (wire: number) => bigint;
  /** In the first witness. */
  readonly honestValueOf: (wire: number) => bigint;
  /** @param touch called for each row that changes for the first time since the last reset */
  readonly set: (wire: number, value: bigint, touch: (row: number) => void) => void;
  /** A row as A · B − C. Wires in `zero` count as zero; `target` is left out and its coefficients returned. */
  readonly read: (
    row: number,
    target: number,
    zero?: ReadonlySet<number>,
  ) => { readonly a: Side; readonly b: Side; readonly c: Side };
  /** Whether a row is satisfied. */
  readonly holds: (row: number) => boolean;
  /** Goes back to the first witness. */
  readonly reset: () => void;
};

type Sums = {
  /** Wires of each sum, and the number of each one's coefficient. */
  readonly wires: Lists;
  readonly coefficients: Uint32Array;
  /** The sums A, B and C of row i: items 3 i to 3 i + 2. */
  readonly ofRows: Uint32Array;
};

/** Gives equal sides of rows one number. */
function findSums({ a, b, c, constraints }: R1cs): Sums {
  const terms = a.wire.length + b.wire.length + c.wire.length;
  const start = new Uint32Array(3 * constraints + 1);
  const items = new Uint32Array(terms);
  const coefficients = new Uint32Array(terms);
  const ofRows = new Uint32Array(3 * constraints);
  const byHash = new Map<number, number[]>();
  let found = 0;
  for (let row = 0; row < constraints; row++) {
    for (const [side, { rowStart, wire, coefficient }] of [a, b, c].entries()) {
      const first = rowStart[row] ?? 0;
      const length = (rowStart[row + 1] ?? 0) - first;
      // Placed after the last sum. The next side overwrites it unless it is new.
      const place = start[found] ?? 0;
      let hash = length;
      for (let term = 0; term < length; term++) {
        const one = wire[first + term] ?? 0;
        const factor = coefficient[first + term] ?? 0;
        items[place + term] = one;
        coefficients[place + term] = factor;
        hash = Math.imul(hash ^ one, 0x9e3779b1) ^ Math.imul(factor, 0x85ebca6b) ^ (hash >>> 15);
      }
      const alike = byHash.get(hash) ?? [];
      let number = alike.find((other) => {
        const from = start[other] ?? 0;
        let isEqual = (start[other + 1] ?? 0) - from === length;
        for (let term = 0; isEqual && term < length; term++) {
          isEqual =
            items[from + term] === items[place + term] &&
            coefficients[from + term] === coefficients[place + term];
        }
        return isEqual;
      });
      if (number === undefined) {
        number = found++;
        start[found] = place + length;
        byHash.set(hash, [...alike, number]);
      }
      ofRows[3 * row + side] = number;
    }
  }
  return { wires: { start: start.slice(0, found + 1), items }, coefficients, ofRows };
}

/** The terms of the sums by wire. */
function sortByWire({ wires: { start, items }, coefficients }: Sums, wires: number) {
  const terms = start.at(-1) ?? 0;
  const single = Uint32Array.from({ length: terms + 1 }, (_, term) => term);
  const { start: starts, items: order } = invertLists(
    { start: single, items: items.subarray(0, terms) },
    wires,
  );
  const sumOf = new Uint32Array(terms);
  for (let sum = 0; sum + 1 < start.length; sum++) {
    sumOf.fill(sum, start[sum], start[sum + 1]);
  }
  return {
    start: starts,
    sum: order.map((term) => sumOf[term] ?? 0),
    coefficient: order.map((term) => coefficients[term] ?? 0),
  };
}

export function createRowSums(r1cs: R1cs, witness: readonly bigint[]): RowSums {
  // Most coefficients are small next to zero, and small numbers multiply faster.
  const factors = r1cs.coefficients.map(center);
  const sums = findSums(r1cs);
  const { start, items } = sums.wires;
  const byWire = sortByWire(sums, r1cs.wires);
  const rowsOfSum = invertLists(
    {
      start: Uint32Array.from({ length: r1cs.constraints + 1 }, (_, row) => 3 * row),
      items: sums.ofRows,
    },
    start.length - 1,
  );
  const first = Array.from({ length: start.length - 1 }, (_, sum) => {
    let total = 0n;
    const end = start[sum + 1] ?? 0;
    for (let term = start[sum] ?? 0; term < end; term++) {
      total += (factors[sums.coefficients[term] ?? 0] ?? 0n) * (witness[items[term] ?? 0] ?? 0n);
    }
    return total % R;
  });
  const values = [...first];
  const current = [...witness];
  const changedWires: number[] = [];
  const changedSums: number[] = [];
  const changedRows: number[] = [];
  const isChangedSum = new Uint8Array(values.length);
  const isChangedRow = new Uint8Array(r1cs.constraints);
  const readSum = (sum: number): bigint => {
    const value = values[sum] ?? 0n;
    if (-R < value && value < R) {
      return value;
    }
    const reduced = value % R;
    values[sum] = reduced;
    return reduced;
  };
  const readSide = (
    row: number,
    side: number,
    target: number,
    zero: ReadonlySet<number> | undefined,
  ): Side => {
    const number = sums.ofRows[3 * row + side] ?? 0;
    let sum = readSum(number);
    let ofTarget = 0n;
    const end = start[number + 1] ?? 0;
    for (let term = start[number] ?? 0; term < end; term++) {
      const wire = items[term] ?? 0;
      if (wire === target || zero?.has(wire) === true) {
        const factor = factors[sums.coefficients[term] ?? 0] ?? 0n;
        sum -= factor * (current[wire] ?? 0n);
        ofTarget += wire === target ? factor : 0n;
      }
    }
    return { sum, ofTarget };
  };
  return {
    valueOf: (wire) => current[wire] ?? 0n,
    honestValueOf: (wire) => witness[wire] ?? 0n,
    set: (wire, value, touch) => {
      const difference = value - (current[wire] ?? 0n);
      current[wire] = value;
      changedWires.push(wire);
      const end = byWire.start[wire + 1] ?? 0;
      for (let term = byWire.start[wire] ?? 0; term < end; term++) {
        const sum = byWire.sum[term] ?? 0;
        const factor = factors[byWire.coefficient[term] ?? 0] ?? 0n;
        values[sum] = (values[sum] ?? 0n) + factor * difference;
        if (isChangedSum[sum] === 0) {
          isChangedSum[sum] = 1;
          changedSums.push(sum);
          const last = rowsOfSum.start[sum + 1] ?? 0;
          for (let index = rowsOfSum.start[sum] ?? 0; index < last; index++) {
            const row = rowsOfSum.items[index] ?? 0;
            if (isChangedRow[row] === 0) {
              isChangedRow[row] = 1;
              changedRows.push(row);
              touch(row);
            }
          }
        }
      }
    },
    read: (row, target, zero) => ({
      a: readSide(row, 0, target, zero),
      b: readSide(row, 1, target, zero),
      c: readSide(row, 2, target, zero),
    }),
    holds: (row) => {
      const sumOf = (side: number) => readSum(sums.ofRows[3 * row + side] ?? 0);
      return (sumOf(0) * sumOf(1) - sumOf(2)) % R === 0n;
    },
    reset: () => {
      for (const wire of changedWires) {
        current[wire] = witness[wire] ?? 0n;
      }
      for (const sum of changedSums) {
        isChangedSum[sum] = 0;
        values[sum] = first[sum] ?? 0n;
      }
      for (const row of changedRows) {
        isChangedRow[row] = 0;
      }
      changedWires.length = 0;
      changedSums.length = 0;
      changedRows.length = 0;
    },
  };
}
