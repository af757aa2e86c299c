/**
 * Curve arithmetic on noble-curves: slow and simple. Tests compare faster implementations with it. It takes about a millisecond
 * per point of G1.
 *
 * @module
 */
import { pippenger } from '@noble/curves/abstract/curve.js';
import { bn254 } from '@noble/curves/bn254.js';
import { decodeInteger, zkeyPointBytes } from '@pool/kernels';
import type { PointArithmetic } from '../src/ceremony/points/point-sums.ts';
import {
  decodeG1,
  decodeG2,
  encodeG1,
  encodeG2,
  type G1Point,
  type G2Point,
} from '../src/ceremony/points/points.ts';

function multiply<P extends G1Point | G2Point>(
  points: readonly P[],
  scalars: Uint8Array,
  times: (point: P, scalar: bigint) => P,
): P[] {
  return points.map((point, i) =>
    times(point, decodeInteger(scalars, scalars.length === 32 ? 0 : i)),
  );
}

function split(points: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: points.length / size }, (_, i) =>
    points.subarray(i * size, (i + 1) * size),
  );
}

function integersOf(scalars: Uint8Array): bigint[] {
  return split(scalars, 32).map((bytes) => decodeInteger(bytes, 0));
}

function multiplyG1(points: Uint8Array, scalars: Uint8Array): G1Point[] {
  return multiply(split(points, zkeyPointBytes.g1).map(decodeG1), scalars, (point, scalar) =>
    point.multiplyUnsafe(scalar),
  );
}

function multiplyG2(points: Uint8Array, scalars: Uint8Array): G2Point[] {
  return multiply(split(points, zkeyPointBytes.g2).map(decodeG2), scalars, (point, scalar) =>
    point.multiplyUnsafe(scalar),
  );
}

export function createNobleArithmetic(): PointArithmetic {
  return {
    multiplyPoints: async (group, points, scalars) =>
      Buffer.concat(
        group === 'g1'
          ? multiplyG1(points, scalars).map(encodeG1)
          : multiplyG2(points, scalars).map(encodeG2),
      ),
    computeMsm: async (group, points, scalars) =>
      group === 'g1'
        ? encodeG1(
            pippenger(
              bn254.G1.Point,
              split(points, zkeyPointBytes.g1).map(decodeG1),
              integersOf(scalars),
            ),
          )
        : encodeG2(
            pippenger(
              bn254.G2.Point,
              split(points, zkeyPointBytes.g2).map(decodeG2),
              integersOf(scalars),
            ),
          ),
    close: async () => {},
  };
}
