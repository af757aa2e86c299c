/**
 * Random weights of 128 bits for checks that add many points. An error passes such a check with probability about 2^-128, because
 * nobody knows the weights when the points are made.
 *
 * Source: M. Bellare, J. A. Garay, T. Rabin, "Fast batch verification for modular exponentiation and digital signatures",
 * EUROCRYPT 1998.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { asBuffer } from './points.ts';

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
  const bytes = asBuffer(weights);
  return Array.from(
    { length: bytes.length / 32 },
    (_, i) => bytes.readBigUInt64LE(32 * i) | (bytes.readBigUInt64LE(32 * i + 8) << 64n),
  );
}
