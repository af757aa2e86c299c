/**
 * The main computation of phase 2's initialisation: for each wire, the sum of coefficient·point over the rows in which it occurs.
 *
 * Terms are sorted by wire. The sums are therefore computed in the order of the key, and only a slice of the terms is in memory.
 * Points of one wire with the same coefficient, or its negative, are added first: hash functions repeat their coefficients in
 * many rows, and a multiplication costs as much as hundreds of additions. The results are multiplied in bulk. The additions are
 * affine, pairwise, and share an inversion.
 *
 * @module
 */
import { encodeIntegers, type Group, scalarFieldOrder } from '@pool/kernels';
import type { R1cs, R1csMatrix } from '../../constraints/r1cs.ts';
import {
  type AffinePoint,
  type Codec,
  codecG1,
  codecG2,
  readPoint,
  sumRuns,
  writePoints,
} from '../points/affine-sums.ts';
import type { BulkOptions, PointArithmetic } from '../points/point-sums.ts';

/** Rows of a matrix, with one point as the weight of each row. */
export type TermSource = {
  readonly matrix: R1csMatrix;
  /** Points by row, in the encoding of files, none at infinity. */
  readonly points: Uint8Array;
  /** Adds 1·points[first + wire] for the wires 0..count-1: the rows of the public signals. */
  readonly publicRows?: { readonly first: number; readonly count: number } | undefined;
};

const termsAtOnce = 1 << 16;
const one = 1n;

/** Terms by wire: those of wire w are start[w]..start[w+1]-1. `value` is an index into the coefficients; the last index means 1. */
type SortedTerms = {
  readonly start: Uint32Array;
  readonly source: Uint8Array;
  readonly row: Uint32Array;
  readonly value: Uint32Array;
};

function forEachTerm(
  r1cs: R1cs,
  sources: readonly TermSource[],
  visit: (wire: number, source: number, row: number, value: number) => void,
): void {
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
}

function sortTerms(r1cs: R1cs, sources: readonly TermSource[]): SortedTerms {
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
  // start[wire + 1] is the position of the wire's next term. After all of them, it is the start of the following wire.
  forEachTerm(r1cs, sources, (wire, index, ofRow, ofValue) => {
    const at = start[wire + 1] ?? 0;
    start[wire + 1] = at + 1;
    source[at] = index;
    row[at] = ofRow;
    value[at] = ofValue;
  });
  return { start: start.subarray(0, r1cs.wires + 1), source, row, value };
}

/** A coefficient up to its sign. Terms of one wire that share it are added before they are multiplied. */
type Magnitude = { readonly value: number; readonly isNegative: boolean };

/** For each coefficient, the index of the first one that equals it or its negative. */
function findMagnitudes(values: readonly bigint[]): readonly Magnitude[] {
  const known = new Map<bigint, number>();
  return values.map((value, index) => {
    const opposite = value === 0n ? 0n : scalarFieldOrder - value;
    const isNegative = opposite < value;
    const magnitude = isNegative ? opposite : value;
    const first = known.get(magnitude);
    if (first === undefined) {
      known.set(magnitude, index);
    }
    return { value: first ?? index, isNegative };
  });
}

type Parts = {
  readonly points: readonly Uint8Array[];
  /** Coefficients by index. */
  readonly values: readonly bigint[];
  readonly magnitudes: readonly Magnitude[];
};

/** Points of one wire under one magnitude. */
type Bundle<T> = {
  readonly wire: number;
  readonly value: number;
  readonly points: AffinePoint<T>[];
};

function collectBundles<T>(
  codec: Codec<T>,
  terms: SortedTerms,
  slice: { readonly first: number; readonly last: number },
  { points, values, magnitudes }: Parts,
): Bundle<T>[] {
  const bundles: Bundle<T>[] = [];
  for (let wire = slice.first; wire < slice.last; wire++) {
    const ofWire = new Map<number, Bundle<T>>();
    for (let term = terms.start[wire] ?? 0; term < (terms.start[wire + 1] ?? 0); term++) {
      const number = terms.value[term] ?? 0;
      const { value, isNegative } = magnitudes[number] ?? { value: number, isNegative: false };
      const source = points[terms.source[term] ?? 0] ?? new Uint8Array();
      const point =
        values[number] === 0n ? undefined : readPoint(codec, source, terms.row[term] ?? 0);
      if (point === undefined) {
        continue;
      }
      let bundle = ofWire.get(value);
      if (bundle === undefined) {
        bundle = { wire: wire - slice.first, value, points: [] };
        ofWire.set(value, bundle);
        bundles.push(bundle);
      }
      bundle.points.push(isNegative ? { x: point.x, y: codec.field.neg(point.y) } : point);
    }
  }
  return bundles;
}

async function sumSlice<T>(
  codec: Codec<T>,
  terms: SortedTerms,
  slice: { readonly first: number; readonly last: number },
  parts: Parts,
  multiply: PointArithmetic['multiplyPoints'],
  options: BulkOptions,
): Promise<Buffer> {
  const bundles = collectBundles(codec, terms, slice, parts);
  const sums = sumRuns(
    codec.field,
    bundles.map(({ points }) => points),
  );
  const magnitudeOf = (value: number): bigint => {
    const coefficient = parts.values[value] ?? 0n;
    return parts.magnitudes[value]?.isNegative ? scalarFieldOrder - coefficient : coefficient;
  };

  const runs: AffinePoint<T>[][] = Array.from({ length: slice.last - slice.first }, () => []);
  const multiplied: {
    readonly wire: number;
    readonly scalar: bigint;
    readonly point: AffinePoint<T>;
  }[] = [];
  for (const [index, { wire, value }] of bundles.entries()) {
    const point = sums[index];
    const scalar = magnitudeOf(value);
    if (point === undefined) {
      continue;
    }
    if (scalar === one) {
      runs[wire]?.push(point);
    } else {
      multiplied.push({ wire, scalar, point });
    }
  }
  if (multiplied.length > 0) {
    const products = await multiply(
      codec.group,
      writePoints(
        codec,
        multiplied.map(({ point }) => point),
      ),
      encodeIntegers(multiplied.map(({ scalar }) => scalar)),
      options,
    );
    for (const [index, { wire }] of multiplied.entries()) {
      const product = readPoint(codec, products, index);
      if (product !== undefined) {
        runs[wire]?.push(product);
      }
    }
  }
  return writePoints(codec, sumRuns(codec.field, runs));
}

/** The sums of all wires in their order, slice by slice, in the encoding of files. */
export async function* computeWireSums(
  arithmetic: PointArithmetic,
  group: Group,
  r1cs: R1cs,
  sources: readonly TermSource[],
  options: BulkOptions = {},
): AsyncGenerator<Buffer> {
  const terms = sortTerms(r1cs, sources);
  const values = [...r1cs.coefficients, one];
  const parts: Parts = {
    points: sources.map(({ points }) => points),
    values,
    magnitudes: findMagnitudes(values),
  };
  for (let first = 0; first < r1cs.wires; ) {
    options.signal?.throwIfAborted();
    let last = first + 1;
    const begin = terms.start[first] ?? 0;
    while (
      last < r1cs.wires &&
      last - first < termsAtOnce &&
      (terms.start[last + 1] ?? 0) - begin <= termsAtOnce
    ) {
      last++;
    }
    const rest = [terms, { first, last }, parts, arithmetic.multiplyPoints, options] as const;
    yield group === 'g1' ? await sumSlice(codecG1, ...rest) : await sumSlice(codecG2, ...rest);
    first = last;
  }
}
