/**
 * Affine additions in batches, on G1 and on G2: many additions share one inversion, and their results are already normalised.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import { asBuffer, pointBytes, readCoordinate, writeCoordinate } from './points.ts';

type Field<T> = {
  readonly ZERO: T;
  add(left: T, right: T): T;
  sub(left: T, right: T): T;
  neg(value: T): T;
  mul(left: T, right: T): T;
  sqr(value: T): T;
  eql(left: T, right: T): boolean;
  is0(value: T): boolean;
  invertBatch(values: T[]): T[];
};

export type AffinePoint<T> = { readonly x: T; readonly y: T };

/** left + right for each pair, with one shared inversion. Undefined is the point at infinity. */
function addPairs<T>(
  field: Field<T>,
  pairs: readonly (readonly [AffinePoint<T>, AffinePoint<T>])[],
): (AffinePoint<T> | undefined)[] {
  const slopes = pairs.map(([left, right]) => {
    if (!field.eql(left.x, right.x)) {
      return { over: field.sub(right.y, left.y), under: field.sub(right.x, left.x) };
    }
    const square = field.sqr(left.x);
    return field.eql(left.y, right.y)
      ? { over: field.add(field.add(square, square), square), under: field.add(left.y, left.y) }
      : { over: field.ZERO, under: field.ZERO };
  });
  // The difference is zero for a point and its negative. invertBatch does not change it.
  const inverses = field.invertBatch(slopes.map(({ under }) => under));
  return pairs.map(([left, right], i) => {
    const { over, under } = slopes[i] ?? { over: field.ZERO, under: field.ZERO };
    if (field.is0(under)) {
      return undefined;
    }
    const slope = field.mul(over, inverses[i] ?? field.ZERO);
    const x = field.sub(field.sub(field.sqr(slope), left.x), right.x);
    return { x, y: field.sub(field.mul(slope, field.sub(left.x, x)), left.y) };
  });
}

/** Adds the points of each run. All runs are halved together until each has at most one point. */
export function sumRuns<T>(
  field: Field<T>,
  runs: AffinePoint<T>[][],
): (AffinePoint<T> | undefined)[] {
  let current = runs;
  while (current.some((run) => run.length > 1)) {
    const pairs: [AffinePoint<T>, AffinePoint<T>][] = [];
    for (const run of current) {
      for (let i = 0; i + 1 < run.length; i += 2) {
        const [left, right] = [run[i], run[i + 1]];
        if (left !== undefined && right !== undefined) {
          pairs.push([left, right]);
        }
      }
    }
    const sums = addPairs(field, pairs);
    let next = 0;
    current = current.map((run) => {
      const shorter: AffinePoint<T>[] = [];
      for (let i = 0; i + 1 < run.length; i += 2) {
        const sum = sums[next++];
        if (sum !== undefined) {
          shorter.push(sum);
        }
      }
      const odd = run.length % 2 === 1 ? run.at(-1) : undefined;
      return odd === undefined ? shorter : [...shorter, odd];
    });
  }
  return current.map(([point]) => point);
}

/** Reads and writes points of one group. */
export type Codec<T> = {
  readonly field: Field<T>;
  readonly read: (bytes: Buffer, offset: number) => AffinePoint<T> | undefined;
  readonly write: (point: AffinePoint<T>, into: Buffer, offset: number) => void;
};

export const codecG1: Codec<bigint> = {
  field: bn254.fields.Fp,
  read: (bytes, offset) => {
    const y = readCoordinate(bytes, offset + 32);
    return y === 0n ? undefined : { x: readCoordinate(bytes, offset), y };
  },
  write: ({ x, y }, into, offset) => {
    writeCoordinate(x, into, offset);
    writeCoordinate(y, into, offset + 32);
  },
};

type Complex = { c0: bigint; c1: bigint };
export const codecG2: Codec<Complex> = {
  field: bn254.fields.Fp2,
  read: (bytes, offset) => {
    const [x0, x1, y0, y1] = [0, 32, 64, 96].map((at) => readCoordinate(bytes, offset + at));
    // No point of G2 has y = 0.
    return y0 === 0n && y1 === 0n
      ? undefined
      : { x: { c0: x0 ?? 0n, c1: x1 ?? 0n }, y: { c0: y0 ?? 0n, c1: y1 ?? 0n } };
  },
  write: ({ x, y }, into, offset) => {
    for (const [place, value] of [x.c0, x.c1, y.c0, y.c1].entries()) {
      writeCoordinate(value, into, offset + 32 * place);
    }
  },
};

/** left[i] - right[i] for encoded points of G1, none at infinity. */
export function subtractG1(left: Uint8Array, right: Uint8Array): Buffer {
  const [minuends, subtrahends] = [asBuffer(left), asBuffer(right)];
  const pairs: [AffinePoint<bigint>, AffinePoint<bigint>][] = [];
  for (let at = 0; at < left.length; at += pointBytes.g1) {
    const [minuend, subtrahend] = [codecG1.read(minuends, at), codecG1.read(subtrahends, at)];
    if (minuend === undefined || subtrahend === undefined) {
      throw new RangeError('a point at infinity cannot be subtracted here');
    }
    pairs.push([minuend, { x: subtrahend.x, y: codecG1.field.neg(subtrahend.y) }]);
  }
  const bytes = Buffer.alloc(left.length);
  for (const [index, point] of addPairs(codecG1.field, pairs).entries()) {
    if (point !== undefined) {
      codecG1.write(point, bytes, index * pointBytes.g1);
    }
  }
  return bytes;
}
