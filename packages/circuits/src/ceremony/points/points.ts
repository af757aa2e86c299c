/**
 * Curve points in the encoding of key files and in the encoding of transcripts.
 *
 * In files: affine coordinates times 2^256 mod q, 32 bytes little-endian each. G1 is x, y and G2 is x.c0, x.c1, y.c0, y.c1. All
 * zeros is the point at infinity. In transcripts: plain coordinates, big-endian, the imaginary part first.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import { baseFieldOrder as Q } from '@pool/kernels';
import { invert, reduce } from '../../constraints/modular.ts';

export type Group = 'g1' | 'g2';

/** Bytes of an encoded point. */
export const pointBytes: Readonly<Record<Group, number>> = { g1: 64, g2: 128 };

export type G1Point = InstanceType<typeof bn254.G1.Point>;
export type G2Point = InstanceType<typeof bn254.G2.Point>;

const coordinateBytes = 32;
const wordMask = (1n << 64n) - 1n;
const montgomery = (1n << 256n) % Q;
const montgomeryInverse = invert(montgomery, Q);

/** The integer of 32 bytes little-endian. */
export function readInteger(bytes: Buffer, offset: number): bigint {
  return (
    bytes.readBigUInt64LE(offset) |
    (bytes.readBigUInt64LE(offset + 8) << 64n) |
    (bytes.readBigUInt64LE(offset + 16) << 128n) |
    (bytes.readBigUInt64LE(offset + 24) << 192n)
  );
}

/** Writes 32 bytes little-endian; value in 0..2^256-1. */
export function writeInteger(value: bigint, into: Buffer, offset: number): void {
  for (let word = 0; word < 4; word++) {
    into.writeBigUInt64LE((value >> BigInt(64 * word)) & wordMask, offset + 8 * word);
  }
}

/** 32 bytes little-endian. */
export function encodeInteger(value: bigint): Buffer {
  const bytes = Buffer.alloc(coordinateBytes);
  writeInteger(value, bytes, 0);
  return bytes;
}

/** A view of the same bytes with Buffer's readers. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A plain coordinate, 0..q-1 (`findInvalidPoint` detects a coordinate that is not below q). */
export function readCoordinate(bytes: Buffer, offset: number): bigint {
  return (readInteger(bytes, offset) * montgomeryInverse) % Q;
}

export function writeCoordinate(value: bigint, into: Buffer, offset: number): void {
  writeInteger((value * montgomery) % Q, into, offset);
}

function isInfinity(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

/** Reads one point. It may be off the curve. */
export function decodeG1(bytes: Uint8Array): G1Point {
  if (isInfinity(bytes)) {
    return bn254.G1.Point.ZERO;
  }
  const view = asBuffer(bytes);
  return bn254.G1.Point.fromAffine({ x: readCoordinate(view, 0), y: readCoordinate(view, 32) });
}

/** Reads one point. It may be off the curve. */
export function decodeG2(bytes: Uint8Array): G2Point {
  if (isInfinity(bytes)) {
    return bn254.G2.Point.ZERO;
  }
  const view = asBuffer(bytes);
  return bn254.G2.Point.fromAffine({
    x: { c0: readCoordinate(view, 0), c1: readCoordinate(view, 32) },
    y: { c0: readCoordinate(view, 64), c1: readCoordinate(view, 96) },
  });
}

function encodeCoordinates(coordinates: readonly bigint[]): Buffer {
  const bytes = Buffer.alloc(coordinateBytes * coordinates.length);
  for (const [index, value] of coordinates.entries()) {
    writeCoordinate(value, bytes, coordinateBytes * index);
  }
  return bytes;
}

export function encodeG1(point: G1Point): Buffer {
  const { x, y } = point.is0() ? { x: 0n, y: 0n } : point.toAffine();
  return encodeCoordinates([x, y]);
}

export function encodeG2(point: G2Point): Buffer {
  if (point.is0()) {
    return Buffer.alloc(pointBytes.g2);
  }
  const { x, y } = point.toAffine();
  return encodeCoordinates([x.c0, x.c1, y.c0, y.c1]);
}

/** The index of the coordinate that comes k-th in a transcript. */
const transcriptOrder: Readonly<Record<Group, readonly number[]>> = {
  g1: [0, 1],
  g2: [1, 0, 3, 2],
};

/** Converts points from the encoding of files into that of transcripts. The length is the same. */
export function encodeForTranscript(group: Group, points: Uint8Array): Buffer {
  const source = asBuffer(points);
  const bytes = Buffer.alloc(source.length);
  const order = transcriptOrder[group];
  for (let start = 0; start < source.length; start += pointBytes[group]) {
    for (const [place, coordinate] of order.entries()) {
      const value = readCoordinate(source, start + coordinateBytes * coordinate);
      const at = start + coordinateBytes * place;
      for (let word = 0; word < 4; word++) {
        bytes.writeBigUInt64BE((value >> BigInt(64 * (3 - word))) & wordMask, at + 8 * word);
      }
    }
  }
  return bytes;
}

// With X = 2^256 x and Y = 2^256 y, y^2 = x^3 + b becomes Y^2 2^256 = X^3 + 2^768 b. The check therefore needs no conversion.
const B1 = (3n * montgomery ** 3n) % Q;
const twist = bn254.G2.Point.CURVE().b;
const B2 = [twist.c0, twist.c1].map((part) => (part * montgomery ** 3n) % Q);

function isOnG1(x: bigint, y: bigint): boolean {
  return (((y * y) % Q) * montgomery - x * x * x - B1) % Q === 0n;
}

function isOnG2(x0: bigint, x1: bigint, y0: bigint, y1: bigint): boolean {
  const [square0, square1] = [((x0 + x1) * (x0 - x1)) % Q, (2n * x0 * x1) % Q];
  const cube0 = square0 * x0 - square1 * x1;
  const cube1 = square0 * x1 + square1 * x0;
  const left0 = (((y0 + y1) * (y0 - y1)) % Q) * montgomery;
  const left1 = ((2n * y0 * y1) % Q) * montgomery;
  return (
    reduce(left0 - cube0 - (B2[0] ?? 0n), Q) === 0n &&
    reduce(left1 - cube1 - (B2[1] ?? 0n), Q) === 0n
  );
}

/**
 * The index of the first point that is not a canonical point of the curve; undefined if all are. In G1 this check is sufficient,
 * because every point of the curve belongs to the group. For G2 see `subgroup.ts`.
 * @param infinity whether points may be at infinity
 */
export function findInvalidPoint(
  group: Group,
  points: Uint8Array,
  infinity: 'allowed' | 'refused',
): number | undefined {
  const bytes = asBuffer(points);
  const size = pointBytes[group];
  for (let start = 0; start < bytes.length; start += size) {
    const c: bigint[] = [];
    for (let at = start; at < start + size; at += coordinateBytes) {
      c.push(readInteger(bytes, at));
    }
    const [c0 = 0n, c1 = 0n, c2 = 0n, c3 = 0n] = c;
    const isZero = c.every((value) => value === 0n);
    const isValid = isZero
      ? infinity === 'allowed'
      : c.every((value) => value < Q) && (group === 'g1' ? isOnG1(c0, c1) : isOnG2(c0, c1, c2, c3));
    if (!isValid) {
      return start / size;
    }
  }
  return undefined;
}
