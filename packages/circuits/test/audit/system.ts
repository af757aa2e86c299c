/**
 * A constraint system as the audit reads it: the wires of each row, the rows of each wire, and rows as linear forms. Rows can be
 * left out, which makes a deliberately underconstrained mutant.
 */

import type { R1cs, R1csMatrix } from '../../src/constraints/r1cs.ts';
import { R } from '../fund-batch.ts';
import { invert, reduce } from '../modular.ts';

/** A sum of coefficient · wire plus a constant, modulo r. No coefficient is zero, and no term is wire 0. */
export type Form = { readonly terms: ReadonlyMap<number, bigint>; readonly constant: bigint };

/** Compressed lists: the items of list i are items[start[i]] up to items[start[i + 1]]. */
export type Lists = { readonly start: Uint32Array; readonly items: Uint32Array };

export type System = {
  readonly r1cs: R1cs;
  /** Distinct wires of each row, without wire 0. A row that was left out has none. */
  readonly wiresOfRow: Lists;
  readonly rowsOfWire: Lists;
  readonly isLeftOut: (row: number) => boolean;
};

export function listItems({ start, items }: Lists, index: number): Uint32Array {
  return items.subarray(start[index] ?? 0, start[index + 1] ?? 0);
}

/** For each target, the lists that contain it. */
export function invertLists(lists: Lists, targets: number): Lists {
  const start = new Uint32Array(targets + 1);
  for (const item of lists.items) {
    start[item + 1] = (start[item + 1] ?? 0) + 1;
  }
  for (let target = 0; target < targets; target++) {
    start[target + 1] = (start[target + 1] ?? 0) + (start[target] ?? 0);
  }
  const next = start.slice();
  const items = new Uint32Array(lists.items.length);
  for (let index = 0; index + 1 < lists.start.length; index++) {
    for (const item of listItems(lists, index)) {
      const place = next[item] ?? 0;
      items[place] = index;
      next[item] = place + 1;
    }
  }
  return { start, items };
}

/** @param leftOut rows that the system shall not contain */
export function createSystem(r1cs: R1cs, leftOut: ReadonlySet<number> = new Set()): System {
  const seenIn = new Int32Array(r1cs.wires).fill(-1);
  const terms = r1cs.a.wire.length + r1cs.b.wire.length + r1cs.c.wire.length;
  const items = new Uint32Array(terms);
  const start = new Uint32Array(r1cs.constraints + 1);
  let length = 0;
  for (let row = 0; row < r1cs.constraints; row++) {
    if (!leftOut.has(row)) {
      for (const matrix of [r1cs.a, r1cs.b, r1cs.c]) {
        const end = matrix.rowStart[row + 1] ?? 0;
        for (let term = matrix.rowStart[row] ?? 0; term < end; term++) {
          const wire = matrix.wire[term] ?? 0;
          if (wire !== 0 && seenIn[wire] !== row) {
            seenIn[wire] = row;
            items[length++] = wire;
          }
        }
      }
    }
    start[row + 1] = length;
  }
  const wiresOfRow = { start, items: items.slice(0, length) };
  return {
    r1cs,
    wiresOfRow,
    rowsOfWire: invertLists(wiresOfRow, r1cs.wires),
    isLeftOut: (row) => leftOut.has(row),
  };
}

/** One side of a row. */
function readForm({ coefficients }: R1cs, matrix: R1csMatrix, row: number): Form {
  const terms = new Map<number, bigint>();
  let constant = 0n;
  const end = matrix.rowStart[row + 1] ?? 0;
  for (let term = matrix.rowStart[row] ?? 0; term < end; term++) {
    const wire = matrix.wire[term] ?? 0;
    const coefficient = coefficients[matrix.coefficient[term] ?? 0] ?? 0n;
    if (wire === 0) {
      constant = (constant + coefficient) % R;
    } else {
      terms.set(wire, ((terms.get(wire) ?? 0n) + coefficient) % R);
    }
  }
  for (const [wire, coefficient] of terms) {
    if (coefficient === 0n) {
      terms.delete(wire);
    }
  }
  return { terms, constant };
}

export type RowForms = { readonly a: Form; readonly b: Form; readonly c: Form };

export function readRow({ r1cs }: System, row: number): RowForms {
  return {
    a: readForm(r1cs, r1cs.a, row),
    b: readForm(r1cs, r1cs.b, row),
    c: readForm(r1cs, r1cs.c, row),
  };
}

/** left · factor − right. */
function combine(left: Form, factor: bigint, right: Form): Form {
  const terms = new Map<number, bigint>();
  for (const [wire, coefficient] of left.terms) {
    terms.set(wire, (coefficient * factor) % R);
  }
  for (const [wire, coefficient] of right.terms) {
    terms.set(wire, (terms.get(wire) ?? 0n) + R - coefficient);
  }
  for (const [wire, value] of terms) {
    const coefficient = value % R;
    if (coefficient === 0n) {
      terms.delete(wire);
    } else {
      terms.set(wire, coefficient);
    }
  }
  return { terms, constant: reduce(left.constant * factor - right.constant, R) };
}

/** A linear row as the form that must be zero. `undefined` for a row with a product. */
export function readLinearRow(forms: RowForms): Form | undefined {
  if (forms.a.terms.size === 0) {
    return combine(forms.b, forms.a.constant, forms.c);
  }
  if (forms.b.terms.size === 0) {
    return combine(forms.a, forms.b.constant, forms.c);
  }
  return undefined;
}

/** The value of a form. */
export function evaluateForm(form: Form, readWire: (wire: number) => bigint): bigint {
  let sum = form.constant;
  for (const [wire, coefficient] of form.terms) {
    sum += coefficient * readWire(wire);
  }
  return sum % R;
}

/** The integer of smallest absolute value in a residue class modulo r. */
export function center(value: bigint): bigint {
  return value > R / 2n ? value - R : value;
}

const inverses = new Map<bigint, bigint>();
const maxInverses = 100_000;

/** value / by modulo r. Inverses are kept: the coefficients of a circuit repeat. */
export function divide(value: bigint, by: bigint): bigint {
  let inverse = inverses.get(by);
  if (inverse === undefined) {
    inverse = invert(by, R);
    if (inverses.size < maxInverses) {
      inverses.set(by, inverse);
    }
  }
  return reduce(value * inverse, R);
}
