/**
 * Points of a proof and of a proving key: their affine coordinates, the encoding of a key, and the JSON of snarkjs.
 *
 * @module
 */

import { bn254 } from '@noble/curves/bn254.js';
import type { G1Json, G2Json } from '@pool/kernels';
import { readCoordinate } from './field.ts';

type G1Point = typeof bn254.G1.Point.BASE;

/** Affine point with coordinates below q, or undefined for the point at infinity. */
export type G1Affine = { readonly x: bigint; readonly y: bigint } | undefined;
/** x = x[0] + x[1] i. */
export type G2Affine =
  | { readonly x: readonly [bigint, bigint]; readonly y: readonly [bigint, bigint] }
  | undefined;

/** Decodes a point of G1 of a proving key. All zeros is infinity. */
export function decodeG1(bytes: Uint8Array, start = 0): G1Affine {
  const x = readCoordinate(bytes, start);
  const y = readCoordinate(bytes, start + 32);
  return x === 0n && y === 0n ? undefined : { x, y };
}

/** Decodes a point of G2 of a proving key. All zeros is infinity. */
export function decodeG2(bytes: Uint8Array): G2Affine {
  const x = [readCoordinate(bytes, 0), readCoordinate(bytes, 32)] as const;
  const y = [readCoordinate(bytes, 64), readCoordinate(bytes, 96)] as const;
  return [...x, ...y].every((coordinate) => coordinate === 0n) ? undefined : { x, y };
}

export function addG1(a: G1Affine, b: G1Affine): G1Affine {
  const [p, q] = [a, b].map((point) =>
    point === undefined ? bn254.G1.Point.ZERO : bn254.G1.Point.fromAffine(point),
  ) as [G1Point, G1Point];
  const sum = p.add(q);
  return sum.is0() ? undefined : sum.toAffine();
}

export function toG1Json(point: { readonly x: bigint; readonly y: bigint }): G1Json {
  return [String(point.x), String(point.y), '1'];
}

export function toG2Json(point: {
  readonly x: readonly [bigint, bigint];
  readonly y: readonly [bigint, bigint];
}): G2Json {
  return [
    [String(point.x[0]), String(point.x[1])],
    [String(point.y[0]), String(point.y[1])],
    ['1', '0'],
  ];
}
