/**
 * Weighted sums of points that arrive in chunks, and checks by random weights.
 *
 * Weights have 128 bits. An error passes a check that adds many points with probability about 2^-128, because nobody knows the
 * weights when the points are made. Source: M. Bellare, J. A. Garay, T. Rabin, "Fast batch verification for modular
 * exponentiation and digital signatures", EUROCRYPT 1998.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { bn254 } from '@noble/curves/bn254.js';
import {
  createKernels,
  decodeInteger,
  type Group,
  type KernelsOptions,
  scalarBytes,
  zkeyPointBytes,
} from '@pool/kernels';
import { decodeG1, decodeG2, type PointOf } from './points.ts';

// The bulk curve arithmetic of a ceremony, which processes millions of points: an interface, and its implementation on
// @pool/kernels, WebAssembly on all cores.

export type BulkOptions = { readonly signal?: AbortSignal | undefined };

/** Points are in the encoding of key files; scalars are 32 bytes little-endian, below r. */
export type PointArithmetic = {
  /**
   * scalars[i]·points[i]. A single scalar multiplies every point. The points must be on the curve, but not necessarily in the
   * subgroup.
   */
  readonly multiplyPoints: (
    group: Group,
    points: Uint8Array,
    scalars: Uint8Array,
    options?: BulkOptions,
  ) => Promise<Uint8Array>;
  /**
   * The sum of all scalars[i]·points[i], as one point. An implementation may treat scalars above half of r as negative ones
   * modulo r. The points must therefore belong to their group, unless all scalars are smaller.
   */
  readonly computeMsm: (
    group: Group,
    points: Uint8Array,
    scalars: Uint8Array,
    options?: BulkOptions,
  ) => Promise<Uint8Array>;
  /** Ends its threads. */
  readonly close: () => Promise<void>;
};

/**
 * Starts its threads; `close` ends them.
 * @throws KernelsError `start_failed`
 */
export async function createKernelArithmetic(
  options: KernelsOptions = {},
): Promise<PointArithmetic> {
  const kernels = await createKernels(options);
  return {
    multiplyPoints: (group, points, scalars, bulk) =>
      kernels.multiplyPoints(group, points, scalars, bulk),
    computeMsm: async (group, points, scalars, bulk) => {
      const size = zkeyPointBytes[group];
      const count = points.length / size;
      if (count === 0) {
        return new Uint8Array(size);
      }
      const table = await kernels.loadPoints(
        group,
        count,
        async (start, length, into) => {
          into.set(points.subarray(start * size, (start + length) * size));
        },
        bulk,
      );
      try {
        const vector = await kernels.loadScalars(count, scalars);
        try {
          return await kernels.computeMsm(table, vector, bulk);
        } finally {
          vector.release();
        }
      } finally {
        table.release();
      }
    },
    close: () => kernels.close(),
  };
}

export type PointSum<P> = {
  /** Adds scalars[i]·points[i]; scalars 32 bytes little-endian, below r. */
  readonly add: (points: Uint8Array, scalars: Uint8Array) => Promise<void>;
  readonly total: () => P;
};

type AnyPoint<P> = { readonly add: (other: P) => P };

function createSum<P extends AnyPoint<P>>(
  group: Group,
  zero: P,
  decode: (bytes: Uint8Array) => P,
  arithmetic: PointArithmetic,
  options: BulkOptions,
): PointSum<P> {
  let total = zero;
  return {
    add: async (points, scalars) => {
      options.signal?.throwIfAborted();
      total = total.add(decode(await arithmetic.computeMsm(group, points, scalars, options)));
    },
    total: () => total,
  };
}

/** Starts a sum in G1. */
export function createSumG1(
  arithmetic: PointArithmetic,
  options: BulkOptions,
): PointSum<PointOf['g1']> {
  return createSum('g1', bn254.G1.Point.ZERO, decodeG1, arithmetic, options);
}

/** Starts a sum in G2. The points must belong to G2, unless the scalars are small (see `PointArithmetic.computeMsm`). */
export function createSumG2(
  arithmetic: PointArithmetic,
  options: BulkOptions,
): PointSum<PointOf['g2']> {
  return createSum('g2', bn254.G2.Point.ZERO, decodeG2, arithmetic, options);
}

const weightBytes = 16;

/** Scalars of 32 bytes little-endian, the lower half of each random. */
export function createWeights(count: number): Buffer {
  const weights = Buffer.alloc(32 * count);
  const random = randomBytes(weightBytes * count);
  for (let i = 0; i < count; i++) {
    random.copy(weights, 32 * i, weightBytes * i, weightBytes * (i + 1));
  }
  return weights;
}

/** The same weights as integers. */
export function readWeights(weights: Uint8Array): bigint[] {
  return Array.from({ length: weights.length / scalarBytes }, (_, i) => decodeInteger(weights, i));
}

const randomSums = 10;
const weightBits = 20;

/** Scalars of 32 bytes with random lowest bits. */
function createSmallWeights(count: number): Buffer {
  const weights = Buffer.alloc(32 * count);
  const random = randomBytes(4 * count);
  for (let i = 0; i < count; i++) {
    weights.writeUInt32LE(random.readUInt32LE(4 * i) >>> (32 - weightBits), 32 * i);
  }
  return weights;
}

/**
 * True if all points belong to G2. They must be on the twist or at infinity.
 *
 * Membership of points of the twist in G2. The twist has many more points than G2, some of very small order. Such a point in a
 * key, or given to a contributor, would leak the factor it is multiplied by, and could pass checks that add points.
 *
 * All points are checked together: sums with small random weights belong to G2 if all points do. The order of the twist is r
 * times a cofactor without square factors whose smallest prime is 10069. With one point outside, a sum is in G2 with probability
 * at most 1/9986 (a weight of 20 bits modulo that prime). Ten sums are with probability less than 2^-132.
 */
export async function areInSubgroup(
  arithmetic: PointArithmetic,
  points: Uint8Array,
  options: BulkOptions = {},
): Promise<boolean> {
  const count = points.length / zkeyPointBytes.g2;
  if (count <= randomSums) {
    return Array.from({ length: count }, (_, i) =>
      decodeG2(points.subarray(i * zkeyPointBytes.g2, (i + 1) * zkeyPointBytes.g2)),
    ).every((point) => point.isTorsionFree());
  }
  for (let sum = 0; sum < randomSums; sum++) {
    // The weights are integers far below half of r, so the sum is also right outside the subgroup.
    const weights = createSmallWeights(count);
    const point = decodeG2(await arithmetic.computeMsm('g2', points, weights, options));
    if (!point.isTorsionFree()) {
      return false;
    }
  }
  return true;
}
