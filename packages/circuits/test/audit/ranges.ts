/**
 * Which wires are small integers, whatever the witness? Follows from the rows alone:
 *
 * - `b · (b − 1) = 0` makes b a boolean;
 * - a linear row whose other wires are small makes its last wire small, if the sum cannot wrap around r;
 * - so does a product of two small forms.
 */

import { R } from '../fund-batch.ts';
import { reduce } from '../modular.ts';
import {
  center,
  divide,
  type Form,
  listItems,
  type RowForms,
  readLinearRow,
  readRow,
  type System,
} from './system.ts';

/** The wire equals, modulo r, an integer between low and high. high − low < r / 2. */
export type Range = { readonly low: bigint; readonly high: bigint };

export type Ranges = readonly (Range | undefined)[];

const boolean: Range = { low: 0n, high: 1n };

/** The wire that a row forces to be 0 or 1. */
export function findBooleanWire(forms: RowForms): number | undefined {
  const wires = new Set([
    ...forms.a.terms.keys(),
    ...forms.b.terms.keys(),
    ...forms.c.terms.keys(),
  ]);
  const [wire] = wires;
  if (wires.size !== 1 || wire === undefined) {
    return undefined;
  }
  const value = (x: bigint): bigint => {
    const at = (form: Form) => form.constant + (form.terms.get(wire) ?? 0n) * x;
    return (at(forms.a) * at(forms.b) - at(forms.c)) % R;
  };
  const isQuadratic = forms.a.terms.size === 1 && forms.b.terms.size === 1;
  return isQuadratic && value(0n) === 0n && value(1n) === 0n ? wire : undefined;
}

/** The range of a form over the integers, its coefficients of smallest absolute value. `undefined` if a wire has none. */
function computeFormRange(form: Form, ranges: Ranges): Range | undefined {
  let low = center(form.constant);
  let high = low;
  for (const [wire, residue] of form.terms) {
    const range = ranges[wire];
    if (range === undefined) {
      return undefined;
    }
    const coefficient = center(residue);
    const ends = [coefficient * range.low, coefficient * range.high];
    low += coefficient > 0n ? (ends[0] ?? 0n) : (ends[1] ?? 0n);
    high += coefficient > 0n ? (ends[1] ?? 0n) : (ends[0] ?? 0n);
  }
  return { low, high };
}

function scale(form: Form, factor: bigint): Form {
  return {
    terms: new Map([...form.terms].map(([wire, value]) => [wire, (value * factor) % R])),
    constant: (form.constant * factor) % R,
  };
}

function without(form: Form, wire: number): Form {
  const terms = new Map(form.terms);
  terms.delete(wire);
  return { terms, constant: form.constant };
}

/** The same residues with the low end next to zero; `undefined` if they are too many to mean anything. */
function normalize({ low, high }: Range): Range | undefined {
  const width = high - low;
  const start = center(reduce(low, R));
  return width < R / 2n ? { low: start, high: start + width } : undefined;
}

/** The range that a row gives to the only wire in it without one. */
function deriveRange(forms: RowForms, wire: number, ranges: Ranges): Range | undefined {
  const linear = readLinearRow(forms);
  if (linear !== undefined) {
    const coefficient = linear.terms.get(wire);
    if (coefficient === undefined) {
      return undefined;
    }
    const rest = scale(without(linear, wire), divide(R - 1n, coefficient));
    const range = computeFormRange(rest, ranges);
    return range === undefined ? undefined : normalize(range);
  }
  const coefficient = forms.c.terms.get(wire);
  if (coefficient === undefined || forms.a.terms.has(wire) || forms.b.terms.has(wire)) {
    return undefined;
  }
  const inverse = divide(1n, coefficient);
  const left = computeFormRange(scale(forms.a, inverse), ranges);
  const right = computeFormRange(forms.b, ranges);
  const rest = computeFormRange(scale(without(forms.c, wire), inverse), ranges);
  if (left === undefined || right === undefined || rest === undefined) {
    return undefined;
  }
  const corners = [left.low, left.high].flatMap((x) => [x * right.low, x * right.high]);
  const [least = 0n, , , most = 0n] = corners.sort((x, y) => (x < y ? -1 : 1));
  return normalize({ low: least - rest.high, high: most - rest.low });
}

export function computeRanges(system: System): Ranges {
  const ranges = new Array<Range | undefined>(system.r1cs.wires).fill(undefined);
  const open = new Int32Array(system.r1cs.constraints);
  const queue: number[] = [];
  const set = (wire: number, range: Range): void => {
    ranges[wire] = range;
    for (const row of listItems(system.rowsOfWire, wire)) {
      const left = (open[row] ?? 0) - 1;
      open[row] = left;
      if (left === 1) {
        queue.push(row);
      }
    }
  };
  for (let row = 0; row < system.r1cs.constraints; row++) {
    open[row] = listItems(system.wiresOfRow, row).length;
  }
  for (let row = 0; row < system.r1cs.constraints; row++) {
    const wires = listItems(system.wiresOfRow, row);
    const [only] = wires;
    if (wires.length !== 1 || only === undefined || ranges[only] !== undefined) {
      continue;
    }
    const forms = readRow(system, row);
    if (findBooleanWire(forms) === only) {
      set(only, boolean);
    } else {
      queue.push(row);
    }
  }
  for (let row = queue.pop(); row !== undefined; row = queue.pop()) {
    const wire = listItems(system.wiresOfRow, row).find((one) => ranges[one] === undefined);
    if (wire !== undefined) {
      const range = deriveRange(readRow(system, row), wire, ranges);
      if (range !== undefined) {
        set(wire, range);
      }
    }
  }
  return ranges;
}
