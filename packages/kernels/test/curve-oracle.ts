/**
 * Sums and multiples of points with @noble/curves. Points are multiples of the generators, so an expected sum is one multiple.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import type { Group } from '../src/curve/points.ts';
import type { Kernels } from '../src/kernels.ts';

export const R = bn254.fields.Fr.ORDER;
const Q = bn254.fields.Fp.ORDER;
const radix = (1n << 256n) % Q;

const word = (1n << 64n) - 1n;

export function bytesOf(value: bigint): Buffer {
  const bytes = Buffer.alloc(32);
  for (let at = 0; at < 32; at += 8) bytes.writeBigUInt64LE((value >> BigInt(8 * at)) & word, at);
  return bytes;
}

/** A reproducible stream of scalars. */
export function createScalars(seed: bigint): () => bigint {
  let state = seed;
  return () => {
    state = (state * 6364136223846793005n + 1442695040888963407n) % R;
    return (state * state * state + seed) % R;
  };
}

const encode = {
  g1: (point: typeof bn254.G1.Point.BASE): Buffer => {
    if (point.is0()) return Buffer.alloc(64);
    const { x, y } = point.toAffine();
    return Buffer.concat([x, y].map((value) => bytesOf((value * radix) % Q)));
  },
  g2: (point: typeof bn254.G2.Point.BASE): Buffer => {
    if (point.is0()) return Buffer.alloc(128);
    const { x, y } = point.toAffine();
    return Buffer.concat([x.c0, x.c1, y.c0, y.c1].map((value) => bytesOf((value * radix) % Q)));
  },
};

function computeMultiple(group: Group, factor: bigint): Buffer {
  const k = ((factor % R) + R) % R;
  if (group === 'g1') {
    const { BASE, ZERO } = bn254.G1.Point;
    return encode.g1(k === 0n ? ZERO : BASE.multiply(k));
  }
  const { BASE, ZERO } = bn254.G2.Point;
  return encode.g2(k === 0n ? ZERO : BASE.multiply(k));
}

const encoded = { g1: new Map<bigint, Buffer>(), g2: new Map<bigint, Buffer>() };

/** factor times the generator, in the format of proving keys. Equal ones are computed once. */
export function encodeMultiple(group: Group, factor: bigint): Buffer {
  const known = encoded[group].get(factor) ?? computeMultiple(group, factor);
  encoded[group].set(factor, known);
  return known;
}

/** A table of these multiples of the generator. */
export function loadMultiples(kernels: Kernels, group: Group, factors: readonly bigint[]) {
  const bytes = Buffer.concat(factors.map((factor) => encodeMultiple(group, factor)));
  const size = bytes.length / factors.length;
  return kernels.loadPoints(group, factors.length, (start, count, into) => {
    into.set(bytes.subarray(start * size, (start + count) * size));
    return Promise.resolve();
  });
}

/** The sum by the kernels and by noble, in hexadecimal. */
export async function sumBoth(
  kernels: Kernels,
  group: Group,
  points: readonly bigint[],
  scalars: readonly bigint[],
): Promise<{ readonly sum: string; readonly expected: string }> {
  const table = await loadMultiples(kernels, group, points);
  const bytes = Buffer.concat(scalars.map((scalar) => bytesOf(scalar)));
  const vector = await kernels.loadScalars(scalars.length, bytes);
  const sum = Buffer.from(await kernels.computeMsm(table, vector)).toString('hex');
  table.release();
  vector.release();
  const factor = points.reduce((total, point, i) => total + point * (scalars[i] ?? 0n), 0n);
  return { sum, expected: encodeMultiple(group, factor).toString('hex') };
}
