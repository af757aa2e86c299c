/**
 * The heart of phase 2's initialisation: for each wire, the sum of coefficient·point over the rows in which it occurs.
 *
 * Terms are sorted by wire, so that sums come out in the order in which the key stores them and never more than a slice of terms is
 * in memory. Coefficients other than 1 and -1 are multiplied in bulk; the additions are affine, pairwise, and share an inversion.
 *
 * @module
 */
import { FIELD_ORDER } from '../field.ts';
import type { R1cs, R1csMatrix } from '../r1cs.ts';
import { type AffinePoint, type Codec, codecG1, codecG2, sumRuns } from './affine-sums.ts';
import type { BulkOptions, PointArithmetic } from './point-arithmetic.ts';
import { asBuffer, encodeInteger, type Group, pointBytes } from './points.ts';

/** Rows of a matrix, weighed with one point for each row. */
export type TermSource = {
  readonly matrix: R1csMatrix;
  /** Points by row, as files carry them, none at infinity. */
  readonly points: Uint8Array;
  /** Adds 1·points[first + wire] for the wires 0..count-1: the rows of the public signals. */
  readonly publicRows?: { readonly first: number; readonly count: number } | undefined;
};

const TERMS_AT_ONCE = 1 << 14;
const ONE = 1n;
const MINUS_ONE = FIELD_ORDER - 1n;

/** Terms by wire: those of wire w are start[w]..start[w+1]-1. `value` is an index into the coefficients; the last index means 1. */
type SortedTerms = {
  readonly start: Uint32Array;
  readonly source: Uint8Array;
  readonly row: Uint32Array;
  readonly value: Uint32Array;
};

const forEachTerm = (
  r1cs: R1cs,
  sources: readonly TermSource[],
  visit: (wire: number, source: number, row: number, value: number) => void,
): void => {
  const one = r1cs.coefficients.length;
  for (const [index, { matrix, publicRows }] of sources.entries()) {
    for (let row = 0; row < r1cs.constraints; row++) {
      const end = matrix.rowStart[row + 1] ?? 0;
      for (let term = matrix.rowStart[row] ?? 0; term < end; term++) {
        visit(matrix.wire[term] ?? 0, index, row, matrix.coefficient[term] ?? 0);
      }
    }
    for (let wire = 0; wire < (publicRows?.count ?? 0); wire++) {
      visit(wire, index, (publicRows?.first ?? 0) + wire, one);
    }
  }
};

const sortTerms = (r1cs: R1cs, sources: readonly TermSource[]): SortedTerms => {
  const start = new Uint32Array(r1cs.wires + 2);
  forEachTerm(r1cs, sources, (wire) => {
    start[wire + 2] = (start[wire + 2] ?? 0) + 1;
  });
  for (let wire = 2; wire < start.length; wire++) {
    start[wire] = (start[wire] ?? 0) + (start[wire - 1] ?? 0);
  }
  const count = start[r1cs.wires + 1] ?? 0;
  const source = new Uint8Array(count);
  const row = new Uint32Array(count);
  const value = new Uint32Array(count);
  // start[wire + 1] is where the next term of the wire goes; after all of them, where the following wire begins.
  forEachTerm(r1cs, sources, (wire, index, ofRow, ofValue) => {
    const at = start[wire + 1] ?? 0;
    start[wire + 1] = at + 1;
    source[at] = index;
    row[at] = ofRow;
    value[at] = ofValue;
  });
  return { start: start.subarray(0, r1cs.wires + 1), source, row, value };
};

const sumSlice = async <T>(
  codec: Codec<T>,
  group: Group,
  terms: SortedTerms,
  slice: { readonly first: number; readonly last: number },
  parts: { readonly points: readonly Buffer[]; readonly values: readonly bigint[] },
  multiply: PointArithmetic['multiplyPoints'],
  options: BulkOptions,
): Promise<Buffer> => {
  const size = pointBytes[group];
  const from = terms.start[slice.first] ?? 0;
  const until = terms.start[slice.last] ?? 0;
  const pointOf = (term: number): Buffer => {
    const offset = (terms.row[term] ?? 0) * size;
    return (parts.points[terms.source[term] ?? 0] ?? Buffer.alloc(0)).subarray(
      offset,
      offset + size,
    );
  };
  const coefficientOf = (term: number): bigint => parts.values[terms.value[term] ?? 0] ?? 0n;

  const multiplied: number[] = [];
  for (let term = from; term < until; term++) {
    const value = coefficientOf(term);
    if (value !== ONE && value !== MINUS_ONE && value !== 0n) {
      multiplied.push(term);
    }
  }
  const products = asBuffer(
    multiplied.length === 0
      ? new Uint8Array(0)
      : await multiply(
          group,
          Buffer.concat(multiplied.map(pointOf)),
          Buffer.concat(multiplied.map((term) => encodeInteger(coefficientOf(term)))),
          options,
        ),
  );

  let product = 0;
  const readTerm = (term: number): AffinePoint<T> | undefined => {
    const value = coefficientOf(term);
    if (value === 0n) {
      return undefined;
    }
    if (value === ONE || value === MINUS_ONE) {
      const point = codec.read(pointOf(term), 0);
      return point === undefined || value === ONE
        ? point
        : { x: point.x, y: codec.field.neg(point.y) };
    }
    return codec.read(products, size * product++);
  };
  const runs: AffinePoint<T>[][] = [];
  for (let wire = slice.first; wire < slice.last; wire++) {
    const run: AffinePoint<T>[] = [];
    for (let term = terms.start[wire] ?? 0; term < (terms.start[wire + 1] ?? 0); term++) {
      const point = readTerm(term);
      if (point !== undefined) {
        run.push(point);
      }
    }
    runs.push(run);
  }
  const bytes = Buffer.alloc(runs.length * size);
  for (const [index, sum] of sumRuns(codec.field, runs).entries()) {
    if (sum !== undefined) {
      codec.write(sum, bytes, index * size);
    }
  }
  return bytes;
};

/** The sums of all wires in their order, slice by slice, as files carry points. */
export async function* computeWireSums(
  arithmetic: PointArithmetic,
  group: Group,
  r1cs: R1cs,
  sources: readonly TermSource[],
  options: BulkOptions = {},
): AsyncGenerator<Buffer> {
  const terms = sortTerms(r1cs, sources);
  const parts = {
    points: sources.map(({ points }) => asBuffer(points)),
    values: [...r1cs.coefficients, ONE],
  };
  for (let first = 0; first < r1cs.wires; ) {
    options.signal?.throwIfAborted();
    let last = first + 1;
    const begin = terms.start[first] ?? 0;
    while (
      last < r1cs.wires &&
      last - first < TERMS_AT_ONCE &&
      (terms.start[last + 1] ?? 0) - begin <= TERMS_AT_ONCE
    ) {
      last++;
    }
    const slice = { first, last };
    yield group === 'g1'
      ? await sumSlice(codecG1, group, terms, slice, parts, arithmetic.multiplyPoints, options)
      : await sumSlice(codecG2, group, terms, slice, parts, arithmetic.multiplyPoints, options);
    first = last;
  }
}
