/**
 * Affine additions in batches, on G1 and on G2: many additions share one inversion, and their results are already normalised.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import { decodeCoordinates, encodeCoordinates, type Group, zkeyPointBytes } from '@pool/kernels';
import { asBuffer } from './points.ts';

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

/** Reads and lists the coordinates of points of one group. */
export type Codec<T> = {
  readonly group: Group;
  readonly field: Field<T>;
  readonly read: (bytes: Uint8Array) => AffinePoint<T> | undefined;
  readonly list: (point: AffinePoint<T>) => readonly bigint[];
};

// No point of either group has y = 0.
export const codecG1: Codec<bigint> = {
  group: 'g1',
  field: bn254.fields.Fp,
  read: (bytes) => {
    const [x = 0n, y = 0n] = decodeCoordinates(bytes);
    return y === 0n ? undefined : { x, y };
  },
  list: ({ x, y }) => [x, y],
};

type Complex = { c0: bigint; c1: bigint };
export const codecG2: Codec<Complex> = {
  group: 'g2',
  field: bn254.fields.Fp2,
  read: (bytes) => {
    const [a = 0n, b = 0n, c = 0n, d = 0n] = decodeCoordinates(bytes);
    return c === 0n && d === 0n ? undefined : { x: { c0: a, c1: b }, y: { c0: c, c1: d } };
  },
  list: ({ x, y }) => [x.c0, x.c1, y.c0, y.c1],
};

/** Point number `index`; undefined at infinity. */
export function readPoint<T>(
  codec: Codec<T>,
  points: Uint8Array,
  index: number,
): AffinePoint<T> | undefined {
  const size = zkeyPointBytes[codec.group];
  return codec.read(points.subarray(index * size, (index + 1) * size));
}

/** The points one after the other, zeros for infinity. */
export function writePoints<T>(
  codec: Codec<T>,
  points: readonly (AffinePoint<T> | undefined)[],
): Buffer {
  const zeros = new Array<bigint>(zkeyPointBytes[codec.group] / 32).fill(0n);
  return asBuffer(
    encodeCoordinates(points.flatMap((point) => (point === undefined ? zeros : codec.list(point)))),
  );
}

/** left[i] - right[i] for encoded points of G1, none at infinity. */
export function subtractG1(left: Uint8Array, right: Uint8Array): Buffer {
  const pairs = Array.from({ length: left.length / zkeyPointBytes.g1 }, (_, i) => {
    const [minuend, subtrahend] = [readPoint(codecG1, left, i), readPoint(codecG1, right, i)];
    if (minuend === undefined || subtrahend === undefined) {
      throw new RangeError('a point at infinity cannot be subtracted here');
    }
    return [minuend, { x: subtrahend.x, y: codecG1.field.neg(subtrahend.y) }] as const;
  });
  return writePoints(codecG1, addPairs(codecG1.field, pairs));
}
