/**
 * Batches of affine additions on BN254's G1 (y^2 = x^3 + 3 over F_q) and G2 (the twist over F_q[i], i^2 = -1). A batch shares
 * one inversion, which makes an affine addition about six field products; and its results need no normalising.
 *
 * Points are columns of coordinates: [x, y] in G1, [x0, x1, y0, y1] in G2. The point at infinity is all zeros: no point of odd
 * order has y = 0.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import { BASE_FIELD_ORDER as Q } from '../field.ts';
import { invertAll, reduce } from '../modular.ts';

export type GroupName = 'G1' | 'G2';

/** coordinates[c][i]: coordinate c of point i, in 0..q-1. */
export type Coordinates = readonly bigint[][];

export type AffineGroup = {
  /** Number of coordinates of a point. */
  readonly width: 2 | 4;
  /** generator * 2^exponent. */
  readonly computeBase: (exponent: number) => bigint[];
  /** points[targets[k]] += addends[k], for k < count. No target twice in a batch; no addend at infinity. */
  readonly addBatch: (
    points: Coordinates,
    targets: Uint32Array,
    addends: Coordinates,
    count: number,
  ) => void;
};

const at = (column: readonly bigint[] | undefined, index: number): bigint => column?.[index] ?? 0n;

const scalarOf = (exponent: number): bigint => 1n << BigInt(exponent);

const addBatchG1: AffineGroup['addBatch'] = (points, targets, addends, count) => {
  const [xs = [], ys = []] = points;
  const live = new Uint32Array(count);
  const numerators: bigint[] = [];
  const denominators: bigint[] = [];
  for (let k = 0; k < count; k++) {
    const target = targets[k] ?? 0;
    const [x, y] = [at(xs, target), at(ys, target)];
    const [addX, addY] = [at(addends[0], k), at(addends[1], k)];
    if (y === 0n) {
      xs[target] = addX;
      ys[target] = addY;
    } else if (x !== addX) {
      live[denominators.length] = k;
      numerators.push(addY - y);
      denominators.push(x > addX ? addX - x + Q : addX - x);
    } else if (y === addY) {
      live[denominators.length] = k;
      numerators.push((3n * x * x) % Q);
      denominators.push((2n * y) % Q);
    } else {
      xs[target] = 0n;
      ys[target] = 0n;
    }
  }
  invertAll(denominators, denominators.length, Q);
  for (let j = 0; j < denominators.length; j++) {
    const k = live[j] ?? 0;
    const target = targets[k] ?? 0;
    const [x, y] = [at(xs, target), at(ys, target)];
    const slope = (at(numerators, j) * at(denominators, j)) % Q;
    const sumX = reduce(slope * slope - x - at(addends[0], k), Q);
    xs[target] = sumX;
    ys[target] = reduce(slope * (x - sumX) - y, Q);
  }
};

const addBatchG2: AffineGroup['addBatch'] = (points, targets, addends, count) => {
  const [x0s = [], x1s = [], y0s = [], y1s = []] = points;
  const live = new Uint32Array(count);
  const numerators0: bigint[] = [];
  const numerators1: bigint[] = [];
  const denominators0: bigint[] = [];
  const denominators1: bigint[] = [];
  const norms: bigint[] = [];
  for (let k = 0; k < count; k++) {
    const target = targets[k] ?? 0;
    const [x0, x1, y0, y1] = [at(x0s, target), at(x1s, target), at(y0s, target), at(y1s, target)];
    const [a0, a1] = [at(addends[0], k), at(addends[1], k)];
    const [b0, b1] = [at(addends[2], k), at(addends[3], k)];
    let d0 = a0 - x0;
    let d1 = a1 - x1;
    let n0 = b0 - y0;
    let n1 = b1 - y1;
    if (y0 === 0n && y1 === 0n) {
      x0s[target] = a0;
      x1s[target] = a1;
      y0s[target] = b0;
      y1s[target] = b1;
      continue;
    }
    if (d0 === 0n && d1 === 0n) {
      if (n0 !== 0n || n1 !== 0n) {
        x0s[target] = 0n;
        x1s[target] = 0n;
        y0s[target] = 0n;
        y1s[target] = 0n;
        continue;
      }
      // Doubling: slope 3 x^2 / 2 y.
      n0 = (3n * (x0 + x1) * (x0 - x1)) % Q;
      n1 = (6n * x0 * x1) % Q;
      d0 = 2n * y0;
      d1 = 2n * y1;
    }
    live[norms.length] = k;
    numerators0.push(n0);
    numerators1.push(n1);
    denominators0.push(d0);
    denominators1.push(d1);
    // q = 3 mod 4, so -1 is no square and the norm of a non-zero element is not zero.
    norms.push((d0 * d0 + d1 * d1) % Q);
  }
  invertAll(norms, norms.length, Q);
  for (let j = 0; j < norms.length; j++) {
    const k = live[j] ?? 0;
    const target = targets[k] ?? 0;
    const [x0, x1, y0, y1] = [at(x0s, target), at(x1s, target), at(y0s, target), at(y1s, target)];
    // 1 / d = conjugate(d) / norm(d)
    const inverse0 = (at(denominators0, j) * at(norms, j)) % Q;
    const inverse1 = (-at(denominators1, j) * at(norms, j)) % Q;
    const [n0, n1] = [at(numerators0, j), at(numerators1, j)];
    const slope0 = (n0 * inverse0 - n1 * inverse1) % Q;
    const slope1 = (n0 * inverse1 + n1 * inverse0) % Q;
    const sumX0 = reduce((slope0 + slope1) * (slope0 - slope1) - x0 - at(addends[0], k), Q);
    const sumX1 = reduce(2n * slope0 * slope1 - x1 - at(addends[1], k), Q);
    const [left0, left1] = [x0 - sumX0, x1 - sumX1];
    x0s[target] = sumX0;
    x1s[target] = sumX1;
    y0s[target] = reduce(slope0 * left0 - slope1 * left1 - y0, Q);
    y1s[target] = reduce(slope0 * left1 + slope1 * left0 - y1, Q);
  }
};

export const affineGroups: Readonly<Record<GroupName, AffineGroup>> = {
  G1: {
    width: 2,
    computeBase: (exponent) => {
      const { x, y } = bn254.G1.Point.BASE.multiply(scalarOf(exponent)).toAffine();
      return [x, y];
    },
    addBatch: addBatchG1,
  },
  G2: {
    width: 4,
    computeBase: (exponent) => {
      const { x, y } = bn254.G2.Point.BASE.multiply(scalarOf(exponent)).toAffine();
      return [x.c0, x.c1, y.c0, y.c1];
    },
    addBatch: addBatchG2,
  },
};
