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
  areBelowOrder,
  decodeInteger,
  encodeIntegers,
  type Group,
  zkeyPointBytes,
} from '@pool/kernels';

export type { Group } from '@pool/kernels';

export type G1Point = InstanceType<typeof bn254.G1.Point>;
export type G2Point = InstanceType<typeof bn254.G2.Point>;
/** The library's point of each group. */
export type PointOf = { readonly g1: G1Point; readonly g2: G2Point };

const { Fp, Fp2 } = bn254.fields;
const coordinateBytes = 32;
const montgomery = Fp.create(1n << 256n);
const montgomeryInverse = Fp.inv(montgomery);

/** A view of the same bytes with Buffer's readers. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** All coordinates of points, plain, 0..q-1 (`findInvalidPoint` detects a coordinate that is not below q). */
export function decodeCoordinates(bytes: Uint8Array): bigint[] {
  return Array.from({ length: bytes.length / coordinateBytes }, (_, i) =>
    Fp.mul(decodeInteger(bytes, i), montgomeryInverse),
  );
}

export function encodeCoordinates(coordinates: readonly bigint[]): Buffer {
  return asBuffer(encodeIntegers(coordinates.map((value) => Fp.mul(value, montgomery))));
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
  return encodeCoordinates([x, y]);
}

export function encodeG2(point: G2Point): Buffer {
  const { x, y } = point.is0() ? { x: Fp2.ZERO, y: Fp2.ZERO } : point.toAffine();
  return encodeCoordinates([x.c0, x.c1, y.c0, y.c1]);
}

/** Converts points from the encoding of files into that of transcripts. The length is the same. */
export function encodeForTranscript(group: Group, points: Uint8Array): Buffer {
  const coordinates = decodeCoordinates(points);
  // G2: the imaginary part first.
  const ordered =
    group === 'g1' ? coordinates : coordinates.map((_, i) => coordinates[i ^ 1] ?? 0n);
  const bytes = asBuffer(encodeIntegers(ordered));
  for (let at = 0; at < bytes.length; at += coordinateBytes) {
    bytes.subarray(at, at + coordinateBytes).reverse();
  }
  return bytes;
}

const twist = bn254.G2.Point.CURVE().b;

function isOnCurve(group: Group, point: Uint8Array): boolean {
  const [a = 0n, b = 0n, c = 0n, d = 0n] = decodeCoordinates(point);
  if (group === 'g1') return Fp.eql(Fp.sqr(b), Fp.add(Fp.mul(Fp.sqr(a), a), 3n));
  const [x, y] = [
    { c0: a, c1: b },
    { c0: c, c1: d },
  ];
  return Fp2.eql(Fp2.sqr(y), Fp2.add(Fp2.mul(Fp2.sqr(x), x), twist));
}

/**
 * The index of the first point that is not a canonical point of the curve; undefined if all are. In G1 this check is sufficient,
 * because every point of the curve belongs to the group. For G2 see `point-sums.ts`.
 * @param infinity whether points may be at infinity
 */
export function findInvalidPoint(
  group: Group,
  points: Uint8Array,
  infinity: 'allowed' | 'refused',
): number | undefined {
  const size = zkeyPointBytes[group];
  for (let start = 0; start < points.length; start += size) {
    const point = points.subarray(start, start + size);
    const isValid = point.every((byte) => byte === 0)
      ? infinity === 'allowed'
      : areBelowOrder('base', point) && isOnCurve(group, point);
    if (!isValid) return start / size;
  }
  return undefined;
}

/** True for a point of G1 that is not at infinity. */
export function isSoundG1(bytes: Uint8Array): boolean {
  return findInvalidPoint('g1', bytes, 'refused') === undefined;
}

/** True for a point of G2 that is not at infinity. */
export function isSoundG2(bytes: Uint8Array): boolean {
  return findInvalidPoint('g2', bytes, 'refused') === undefined && decodeG2(bytes).isTorsionFree();
}
