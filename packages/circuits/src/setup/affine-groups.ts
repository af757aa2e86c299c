/**
 * Batches of affine additions on BN254's G1 (y^2 = x^3 + 3 over F_q) and G2 (the twist over F_q[i], i^2 = -1). A batch shares
 * one inversion, which makes an affine addition about six field products; and its results need no normalising.
 *
 * Points are columns of coordinates, a vector each: [x, y] in G1, [x0, x1, y0, y1] in G2. The point at infinity is all zeros: no
 * point of odd order has y = 0.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import { type FieldVectors, LIMBS } from './field-vectors.ts';
import { decodeScalar, encodeScalars } from './scalars.ts';

export type GroupName = 'G1' | 'G2';

/** Number of coordinates of a point. */
export const groupWidth: Readonly<Record<GroupName, 2 | 4>> = { G1: 2, G2: 4 };

/** columns[c]: the vector of coordinate c of all points. */
export type Columns = readonly number[];

/** Coordinates of one point as integers below q; undefined for the point at infinity. */
type Affine = readonly bigint[] | undefined;

const toAffine = (name: GroupName, scalar: bigint): readonly bigint[] => {
  if (name === 'G1') {
    const { x, y } = bn254.G1.Point.BASE.multiply(scalar).toAffine();
    return [x, y];
  }
  const { x, y } = bn254.G2.Point.BASE.multiply(scalar).toAffine();
  return [x.c0, x.c1, y.c0, y.c1];
};

/** A sum whose slope has no inverse, or any other: slow, and needed for doublings and opposite points alone. */
const addSlowly = (name: GroupName, left: readonly bigint[], right: readonly bigint[]): Affine => {
  if (name === 'G1') {
    const point = ([x = 0n, y = 0n]: readonly bigint[]) => bn254.G1.Point.fromAffine({ x, y });
    const sum = point(left).add(point(right));
    return sum.is0() ? undefined : [sum.toAffine().x, sum.toAffine().y];
  }
  const point = ([c0 = 0n, c1 = 0n, d0 = 0n, d1 = 0n]: readonly bigint[]) =>
    bn254.G2.Point.fromAffine({ x: { c0, c1 }, y: { c0: d0, c1: d1 } });
  const sum = point(left).add(point(right));
  if (sum.is0()) {
    return undefined;
  }
  const { x, y } = sum.toAffine();
  return [x.c0, x.c1, y.c0, y.c1];
};

/** a * b in F_q[i] on two vectors each: (a0 b0 - a1 b1) + ((a0 + a1)(b0 + b1) - a0 b0 - a1 b1) i. */
type Pair = readonly [real: number, imaginary: number];

export type AffineGroup = {
  readonly name: GroupName;
  readonly width: 2 | 4;
  /** Sets a point to generator * 2^exponent. */
  readonly setBase: (points: Columns, index: number, exponent: number) => void;
  /** Columns for `count` points, all at infinity. */
  readonly allocate: (count: number) => Columns;
  /** to[i] = from[j]. */
  readonly copy: (to: Columns, i: number, from: Columns, j: number) => void;
  /** to[i] = -from[j]. */
  readonly copyNegated: (to: Columns, i: number, from: Columns, j: number) => void;
  /**
   * points[targets[k]] += addends[k] for k < count, which is at most the batch size. No target twice in a batch; no addend at
   * infinity. Overwrites the addends.
   */
  readonly addBatch: (
    points: Columns,
    targets: Uint32Array,
    addends: Columns,
    count: number,
  ) => void;
};

/** Elements that a group of this batch size allocates for itself. */
export const countScratch = (batch: number): number => 16 * batch;

/** @param batch the most additions in one batch */
export const createAffineGroup = (
  name: GroupName,
  vectors: FieldVectors,
  batch: number,
): AffineGroup => {
  const width = groupWidth[name];
  const { doubles } = vectors;
  const scratch = Array.from({ length: 16 }, () => vectors.allocate(batch));
  const take = (index: number): number => scratch[index] ?? 0;

  const copyElement = (to: number, i: number, from: number, j: number): void => {
    const target = to / 8 + i * LIMBS;
    const source = from / 8 + j * LIMBS;
    for (let limb = 0; limb < LIMBS; limb++) {
      doubles[target + limb] = doubles[source + limb] ?? 0;
    }
  };
  const copy: AffineGroup['copy'] = (to, i, from, j) => {
    for (let c = 0; c < width; c++) {
      copyElement(to[c] ?? 0, i, from[c] ?? 0, j);
    }
  };
  const isZero = (vector: number, i: number): boolean => {
    const start = vector / 8 + i * LIMBS;
    for (let limb = 0; limb < LIMBS; limb++) {
      if (doubles[start + limb] !== 0) {
        return false;
      }
    }
    return true;
  };
  const isInfinity = (points: Columns, i: number): boolean => points.every((c) => isZero(c, i));
  const read = (points: Columns, i: number): readonly bigint[] =>
    points.map((column) =>
      decodeScalar(vectors.exportIntegers(column + 8 * LIMBS * i, 1, false), 0),
    );
  const write = (points: Columns, i: number, point: Affine): void => {
    points.forEach((column, c) => {
      vectors.importIntegers(column + 8 * LIMBS * i, encodeScalars([point?.[c] ?? 0n]));
    });
  };

  const multiplyPairs = (to: Pair, a: Pair, b: Pair, spare: Pair, count: number): void => {
    const [sum, other] = spare;
    vectors.add(sum, a[0], a[1], count);
    vectors.add(other, b[0], b[1], count);
    vectors.multiply(sum, sum, other, count);
    vectors.multiply(other, a[1], b[1], count);
    vectors.multiply(to[0], a[0], b[0], count);
    vectors.subtract(sum, sum, to[0], count);
    vectors.subtract(to[1], sum, other, count);
    vectors.subtract(to[0], to[0], other, count);
  };

  /** left[k] += right[k] for points whose x differ; `differences` holds right.x - left.x. All vectors are compact. */
  const sumG1 = (left: Columns, right: Columns, differences: Columns, count: number): void => {
    const [x = 0, y = 0] = left;
    const [addX = 0, addY = 0] = right;
    const [slope = 0] = differences;
    const [square, rise] = [take(8), take(9)];
    vectors.subtract(rise, addY, y, count);
    vectors.invert(slope, count);
    vectors.multiply(slope, slope, rise, count);
    vectors.square(square, slope, count);
    vectors.subtract(square, square, addX, count);
    vectors.subtract(square, square, x, count);
    vectors.subtract(x, x, square, count);
    vectors.multiply(x, x, slope, count);
    vectors.subtract(y, x, y, count);
    for (let k = 0; k < count; k++) {
      copyElement(x, k, square, k);
    }
  };

  const sumG2 = (left: Columns, right: Columns, differences: Columns, count: number): void => {
    const [x0 = 0, x1 = 0, y0 = 0, y1 = 0] = left;
    const [addX0 = 0, addX1 = 0, addY0 = 0, addY1 = 0] = right;
    const [d0 = 0, d1 = 0] = differences;
    const spare: Pair = [take(8), take(9)];
    const rise: Pair = [take(10), take(11)];
    const square: Pair = [take(12), take(13)];
    // 1 / d = conjugate(d) / norm(d)
    vectors.square(spare[0], d0, count);
    vectors.square(spare[1], d1, count);
    vectors.add(spare[0], spare[0], spare[1], count);
    vectors.invert(spare[0], count);
    vectors.multiply(d0, d0, spare[0], count);
    vectors.multiply(d1, d1, spare[0], count);
    vectors.negate(d1, d1, count);
    vectors.subtract(rise[0], addY0, y0, count);
    vectors.subtract(rise[1], addY1, y1, count);
    const slope: Pair = [take(14), take(15)];
    multiplyPairs(slope, [d0, d1], rise, spare, count);
    multiplyPairs(square, slope, slope, spare, count);
    vectors.subtract(square[0], square[0], addX0, count);
    vectors.subtract(square[1], square[1], addX1, count);
    vectors.subtract(square[0], square[0], x0, count);
    vectors.subtract(square[1], square[1], x1, count);
    vectors.subtract(x0, x0, square[0], count);
    vectors.subtract(x1, x1, square[1], count);
    multiplyPairs(rise, [x0, x1], slope, spare, count);
    vectors.subtract(y0, rise[0], y0, count);
    vectors.subtract(y1, rise[1], y1, count);
    for (let k = 0; k < count; k++) {
      copyElement(x0, k, square[0], k);
      copyElement(x1, k, square[1], k);
    }
  };

  const addBatch: AffineGroup['addBatch'] = (points, targets, addends, count) => {
    const left = scratch.slice(0, width);
    const half = width / 2;
    const differences = scratch.slice(4, 4 + half);
    const live = new Uint32Array(count);
    let used = 0;
    for (let k = 0; k < count; k++) {
      const target = targets[k] ?? 0;
      if (isInfinity(points, target)) {
        copy(points, target, addends, k);
        continue;
      }
      copy(left, used, points, target);
      copy(addends, used, addends, k);
      live[used++] = target;
    }
    for (let c = 0; c < half; c++) {
      vectors.subtract(differences[c] ?? 0, addends[c] ?? 0, left[c] ?? 0, used);
    }
    // Doublings and opposite points leave the batch.
    let kept = 0;
    for (let k = 0; k < used; k++) {
      const target = live[k] ?? 0;
      if (isInfinity(differences, k)) {
        write(points, target, addSlowly(name, read(left, k), read(addends, k)));
        continue;
      }
      if (kept !== k) {
        copy(left, kept, left, k);
        copy(addends, kept, addends, k);
        for (const column of differences) {
          copyElement(column, kept, column, k);
        }
      }
      live[kept++] = target;
    }
    (name === 'G1' ? sumG1 : sumG2)(left, addends, differences, kept);
    for (let k = 0; k < kept; k++) {
      copy(points, live[k] ?? 0, left, k);
    }
  };

  return {
    name,
    width,
    setBase: (points, index, exponent) => {
      write(points, index, toAffine(name, 1n << BigInt(exponent)));
    },
    allocate: (count) => Array.from({ length: width }, () => vectors.allocate(count)),
    copy,
    copyNegated: (to, i, from, j) => {
      copy(to, i, from, j);
      for (const column of to.slice(width / 2)) {
        const start = column / 8 + i * LIMBS;
        for (let limb = 0; limb < LIMBS; limb++) {
          doubles[start + limb] = -(doubles[start + limb] ?? 0);
        }
      }
    },
    addBatch,
  };
};
