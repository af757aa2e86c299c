/**
 * Weighted sums of points that arrive in chunks.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import type { BulkOptions, PointArithmetic } from './point-arithmetic.ts';
import { decodeG1, decodeG2, type G1Point, type G2Point } from './points.ts';

export type PointSum<P> = {
  /** Adds scalars[i]·points[i]; scalars 32 bytes little-endian, below r. */
  readonly add: (points: Uint8Array, scalars: Uint8Array) => Promise<void>;
  readonly total: () => P;
};

/** Starts a sum in G1. */
export function createSumG1(arithmetic: PointArithmetic, options: BulkOptions): PointSum<G1Point> {
  let total: G1Point = bn254.G1.Point.ZERO;
  return {
    add: async (points, scalars) => {
      options.signal?.throwIfAborted();
      total = total.add(decodeG1(await arithmetic.computeMsm('g1', points, scalars, options)));
    },
    total: () => total,
  };
}

/** Starts a sum in G2. The points must belong to G2, unless the scalars are small (point-arithmetic.ts). */
export function createSumG2(arithmetic: PointArithmetic, options: BulkOptions): PointSum<G2Point> {
  let total: G2Point = bn254.G2.Point.ZERO;
  return {
    add: async (points, scalars) => {
      options.signal?.throwIfAborted();
      total = total.add(decodeG2(await arithmetic.computeMsm('g2', points, scalars, options)));
    },
    total: () => total,
  };
}
