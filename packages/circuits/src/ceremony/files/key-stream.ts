/**
 * Scalars and points derived from a 32-byte seed, exactly as snarkjs derives them, so that each tool can check what the other
 * derived: beacons, and the G2 point with which a contribution proves that it knows its factor.
 *
 * The seed is eight big-endian words. They are the key of ChaCha20 (RFC 8439, counter and nonce zero), whose words are the input
 * of rejection sampling. A sampled value is interpreted as a Montgomery representation: the element itself is value / 2^256.
 *
 * @module
 */
import { createCipheriv, hash } from 'node:crypto';
import { bn254 } from '@noble/curves/bn254.js';
import type { G1Point, G2Point } from '../points/points.ts';

/** A stream of values that the seed determines. As secret as the seed. */
export type KeyStream = {
  readonly sampleScalar: () => bigint;
  readonly sampleG1: () => G1Point;
  readonly sampleG2: () => G2Point;
};

const blockBytes = 64;
const fieldMask = (1n << 254n) - 1n;

const { Fp, Fp2, Fr } = bn254.fields;
const half = (Fp.ORDER - 1n) / 2n;

/** @param seed 32 bytes. It is read immediately, so the caller may wipe it afterwards */
export function createKeyStream(seed: Uint8Array): KeyStream {
  const key = Buffer.from(seed.subarray(0, 32)).swap32();
  const cipher = createCipheriv('chacha20', key, Buffer.alloc(16));
  key.fill(0);
  let block = Buffer.alloc(0);
  let position = 0;

  const nextWord = (): number => {
    if (position === block.length) {
      block = cipher.update(Buffer.alloc(blockBytes));
      position = 0;
    }
    const word = block.readUInt32LE(position);
    position += 4;
    return word;
  };
  const sample = (field: typeof Fp): bigint => {
    for (;;) {
      let value = 0n;
      for (let word = 0n; word < 4n; word++) {
        const high = BigInt(nextWord());
        value |= ((high << 32n) | BigInt(nextWord())) << (64n * word);
      }
      value &= fieldMask;
      if (value < field.ORDER) {
        return field.div(value, field.create(1n << 256n));
      }
    }
  };
  const sampleCoordinate = () => sample(Fp);
  const isGreater = () => (nextWord() & 1) === 1;

  const sampleG1 = (): G1Point => {
    for (;;) {
      const x = sampleCoordinate();
      const greater = isGreater();
      const square = Fp.add(Fp.mul(Fp.sqr(x), x), 3n);
      const y = squareRoot(Fp, square);
      if (y !== undefined) {
        return bn254.G1.Point.fromAffine({ x, y: y > half === greater ? y : Fp.neg(y) });
      }
    }
  };
  const sampleG2 = (): G2Point => {
    for (;;) {
      const x = { c0: sampleCoordinate(), c1: sampleCoordinate() };
      const greater = isGreater();
      const square = Fp2.add(Fp2.mul(Fp2.sqr(x), x), bn254.G2.Point.CURVE().b);
      const y = squareRoot(Fp2, square);
      if (y !== undefined) {
        const isLarge = y.c1 === 0n ? y.c0 > half : y.c1 > half;
        const point = bn254.G2.Point.fromAffine({ x, y: isLarge === greater ? y : Fp2.neg(y) });
        return clearCofactor(point);
      }
    }
  };
  return { sampleScalar: () => sample(Fr), sampleG1, sampleG2 };
}

const halfBits = 128n;
const cofactor = bn254.G2.Point.CURVE().h;

/** cofactor·point in two halves, because the library's multiplication refuses scalars beyond the group order. */
function clearCofactor(point: G2Point): G2Point {
  return point
    .multiplyUnsafe(cofactor >> halfBits)
    .multiplyUnsafe(1n << halfBits)
    .add(point.multiplyUnsafe(cofactor & ((1n << halfBits) - 1n)));
}

type Field<T> = { sqrt(value: T): T; sqr(value: T): T; eql(left: T, right: T): boolean };

/** A square root. Undefined if there is none. */
function squareRoot<T>(field: Field<T>, value: T): T | undefined {
  try {
    const root = field.sqrt(value);
    return field.eql(field.sqr(root), value) ? root : undefined;
  } catch {
    return undefined;
  }
}

/** The point p of G2 with which a contributor proves its factor. The transcript determines it, so nobody can choose it. */
export function deriveChallenge(transcript: Uint8Array): G2Point {
  return createKeyStream(transcript).sampleG2();
}

/** Minimum and maximum number of rounds of a beacon, as powers of two. 2^40 takes weeks to compute and to check. */
export const beaconRounds = { least: 10, most: 40 } as const;

const roundsAtOnce = 1 << 16;

/**
 * Seed of a beacon: SHA-256 applied 2^exponent times to its value, so that nobody can try many values in the available time.
 * Public.
 */
export async function deriveBeaconSeed(
  beacon: Uint8Array,
  exponent: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  let digest: Uint8Array = beacon;
  const rounds = 2 ** exponent;
  for (let done = 0; done < rounds; done++) {
    digest = hash('sha256', digest, 'buffer');
    if (done % roundsAtOnce === roundsAtOnce - 1) {
      await new Promise(setImmediate);
      signal?.throwIfAborted();
    }
  }
  return digest;
}
