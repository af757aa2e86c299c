/**
 * Curve points in the encoding of key files and in the encoding of transcripts.
 *
 * In files: affine coordinates times 2^256 mod q, 32 bytes little-endian each. G1 is x, y and G2 is x.c0, x.c1, y.c0, y.c1. All
 * zeros is the point at infinity. In transcripts: plain coordinates, big-endian, the imaginary part first.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import {
  decodeCoordinates,
  encodeCoordinates,
  encodeIntegers,
  findInvalidPoint,
  type Group,
  scalarBytes,
  zkeyPointBytes,
} from '@pool/kernels';

export type G1Point = InstanceType<typeof bn254.G1.Point>;
export type G2Point = InstanceType<typeof bn254.G2.Point>;
/** The library's point of each group. */
export type PointOf = { readonly g1: G1Point; readonly g2: G2Point };

const { Fp2 } = bn254.fields;

/** A view of the same bytes with Buffer's readers. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Reads one point. It may be off the curve. */
export function decodeG1(bytes: Uint8Array): G1Point {
  const [x = 0n, y = 0n] = decodeCoordinates(bytes.subarray(0, zkeyPointBytes.g1));
  return x === 0n && y === 0n ? bn254.G1.Point.ZERO : bn254.G1.Point.fromAffine({ x, y });
}

/** Reads one point. It may be off the curve. */
export function decodeG2(bytes: Uint8Array): G2Point {
  const [a = 0n, b = 0n, c = 0n, d = 0n] = decodeCoordinates(bytes.subarray(0, zkeyPointBytes.g2));
  return [a, b, c, d].every((value) => value === 0n)
    ? bn254.G2.Point.ZERO
    : bn254.G2.Point.fromAffine({ x: { c0: a, c1: b }, y: { c0: c, c1: d } });
}

export function encodeG1(point: G1Point): Buffer {
  const { x, y } = point.is0() ? { x: 0n, y: 0n } : point.toAffine();
  return asBuffer(encodeCoordinates([x, y]));
}

export function encodeG2(point: G2Point): Buffer {
  const { x, y } = point.is0() ? { x: Fp2.ZERO, y: Fp2.ZERO } : point.toAffine();
  return asBuffer(encodeCoordinates([x.c0, x.c1, y.c0, y.c1]));
}

/** Converts points from the encoding of files into that of transcripts. The length is the same. */
export function encodeForTranscript(group: Group, points: Uint8Array): Buffer {
  const coordinates = decodeCoordinates(points);
  // G2: the imaginary part first.
  const ordered =
    group === 'g1' ? coordinates : coordinates.map((_, i) => coordinates[i ^ 1] ?? 0n);
  const bytes = asBuffer(encodeIntegers(ordered));
  for (let at = 0; at < bytes.length; at += scalarBytes) {
    bytes.subarray(at, at + scalarBytes).reverse();
  }
  return bytes;
}

/** True for a point of G1 that is not at infinity. */
export function isSoundG1(bytes: Uint8Array): boolean {
  return findInvalidPoint('g1', bytes, 'refused') === undefined;
}

/** True for a point of G2 that is not at infinity. */
export function isSoundG2(bytes: Uint8Array): boolean {
  return findInvalidPoint('g2', bytes, 'refused') === undefined && decodeG2(bytes).isTorsionFree();
}
