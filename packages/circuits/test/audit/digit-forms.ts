/**
 * Rows that make a linear form a boolean, such as `last · (last − 1) = 0` where `last` is what the other digits leave. The form gets
 * a wire of its own, with one linear row that says so and one boolean row. Both follow from the row, so nothing is added to what the
 * system demands, and the rules for digits apply.
 */
import type { R1cs, R1csMatrix } from '../../src/constraints/r1cs.ts';
import { R } from '../fund-batch.ts';
import { createSystem, divide, evaluateForm, type Form, readRow } from './system.ts';

export type ExtendedSystem = {
  readonly r1cs: R1cs;
  /** The row that each added row follows from. */
  readonly originOf: ReadonlyMap<number, number>;
  /** The values of the added wires. */
  readonly extend: (witness: readonly bigint[]) => bigint[];
};

/** The form that a row forces to be 0 or 1, if it has more than one wire. */
function findBooleanForm({ a, b, c }: { a: Form; b: Form; c: Form }): Form | undefined {
  const isZero = c.terms.size === 0 && c.constant === 0n;
  if (a.terms.size < 2 || a.terms.size !== b.terms.size || !isZero) {
    return undefined;
  }
  const [first = 0] = a.terms.keys();
  // b = ratio · a + shift, so a is 0 or −shift / ratio.
  const ratio = divide(b.terms.get(first) ?? 0n, a.terms.get(first) ?? 1n);
  for (const [wire, coefficient] of a.terms) {
    if (b.terms.get(wire) !== (coefficient * ratio) % R) {
      return undefined;
    }
  }
  const shift = (b.constant + R * R - a.constant * ratio) % R;
  if (ratio === 0n || shift === 0n) {
    return undefined;
  }
  const scale = divide(R - ratio, shift);
  return {
    terms: new Map([...a.terms].map(([wire, value]) => [wire, (value * scale) % R])),
    constant: (a.constant * scale) % R,
  };
}

function appendRows(
  matrix: R1csMatrix,
  rows: readonly (readonly (readonly [wire: number, coefficient: number])[])[],
): R1csMatrix {
  const terms = rows.flat();
  const { length } = matrix.wire;
  const wire = new Uint32Array(length + terms.length);
  const coefficient = new Uint32Array(length + terms.length);
  const rowStart = new Uint32Array(matrix.rowStart.length + rows.length);
  wire.set(matrix.wire);
  coefficient.set(matrix.coefficient);
  rowStart.set(matrix.rowStart);
  let next = length;
  for (const [index, row] of rows.entries()) {
    for (const [one, value] of row) {
      wire[next] = one;
      coefficient[next++] = value;
    }
    rowStart[matrix.rowStart.length + index] = next;
  }
  return { rowStart, wire, coefficient };
}

export function extendWithDigitForms(r1cs: R1cs): ExtendedSystem {
  const system = createSystem(r1cs);
  const forms: { readonly form: Form; readonly row: number }[] = [];
  for (let row = 0; row < r1cs.constraints; row++) {
    if ((system.wiresOfRow.start[row + 1] ?? 0) - (system.wiresOfRow.start[row] ?? 0) > 1) {
      const form = findBooleanForm(readRow(system, row));
      if (form !== undefined) {
        forms.push({ form, row });
      }
    }
  }
  const coefficients = [...r1cs.coefficients];
  const numbers = new Map(coefficients.map((value, index) => [value, index]));
  const numberOf = (value: bigint): number => {
    const known = numbers.get(value);
    if (known !== undefined) {
      return known;
    }
    numbers.set(value, coefficients.length);
    return coefficients.push(value) - 1;
  };
  const [one, minusOne] = [numberOf(1n), numberOf(R - 1n)];
  const originOf = new Map<number, number>();
  const a: (readonly [number, number])[][] = [];
  const b: (readonly [number, number])[][] = [];
  const c: (readonly [number, number])[][] = [];
  for (const [index, { form, row }] of forms.entries()) {
    const wire = r1cs.wires + index;
    const terms = [...form.terms].map(([of, value]) => [of, numberOf(value)] as const);
    // form = wire, and wire · (wire − 1) = 0.
    a.push([], [[wire, one]]);
    b.push(
      [],
      [
        [wire, one],
        [0, minusOne],
      ],
    );
    c.push([...terms, [0, numberOf(form.constant)], [wire, minusOne]], []);
    originOf.set(r1cs.constraints + 2 * index, row).set(r1cs.constraints + 2 * index + 1, row);
  }
  return {
    r1cs: {
      wires: r1cs.wires + forms.length,
      publicSignals: r1cs.publicSignals,
      constraints: r1cs.constraints + 2 * forms.length,
      coefficients,
      a: appendRows(r1cs.a, a),
      b: appendRows(r1cs.b, b),
      c: appendRows(r1cs.c, c),
    },
    originOf,
    extend: (witness) => [
      ...witness,
      ...forms.map(({ form }) => evaluateForm(form, (wire) => witness[wire] ?? 0n)),
    ],
  };
}
