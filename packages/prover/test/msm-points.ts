/**
 * Points and scalars for tests of multi-scalar multiplication, in the encoding of a zkey. @noble/curves computes the sums. All
 * points are known multiples of the generator, so an expected sum is one multiplication.
 */
import { bn254 } from '@noble/curves/bn254.js';
import { encodeIntegers } from '@pool/kernels';
import type { G1Affine, G2Affine } from '../src/base/points.ts';

const { Fp, Fr } = bn254.fields;
const G1 = bn254.G1.Point;
const G2 = bn254.G2.Point;
const R = Fr.ORDER;

/** Numbers that look random and are equal in every run. */
export function createRandom(seed: bigint) {
  let state = seed;
  const next = (): bigint => {
    state = (state * 6364136223846793005n + 1442695040888963407n) % (1n << 64n);
    return state >> 11n;
  };
  return {
    scalar: (): bigint =>
      Array.from({ length: 5 }, next).reduce((sum, part) => (sum << 53n) + part, 0n) % R,
    below: (limit: number): number => Number(next() % BigInt(limit)),
  };
}

/** 1 G, 2 G … count G in affine form. */
function listMultiples<T extends { add: (other: T) => T }>(base: T, count: number): T[] {
  const multiples: T[] = [];
  let point = base;
  for (let k = 0; k < count; k++) {
    multiples.push(point);
    point = point.add(base);
  }
  return multiples;
}

function toFile(value: bigint): bigint {
  return (value << 256n) % Fp.ORDER;
}

let g1Multiples: Uint8Array[] = [];
let g2Multiples: Uint8Array[] = [];

function multipleG1(factor: number): Uint8Array {
  if (g1Multiples.length < factor) {
    g1Multiples = listMultiples(G1.BASE, Math.max(factor, 200)).map((point) => {
      const { x, y } = point.toAffine();
      return encodeIntegers([toFile(x), toFile(y)]);
    });
  }
  return g1Multiples[factor - 1] ?? new Uint8Array(64);
}
function multipleG2(factor: number): Uint8Array {
  if (g2Multiples.length < factor) {
    g2Multiples = listMultiples(G2.BASE, Math.max(factor, 200)).map((point) => {
      const { x, y } = point.toAffine();
      return encodeIntegers([x.c0, x.c1, y.c0, y.c1].map(toFile));
    });
  }
  return g2Multiples[factor - 1] ?? new Uint8Array(128);
}

/** The file's y with its sign changed. */
function negate(point: Uint8Array): Uint8Array {
  const half = point.length / 2;
  const negated = point.slice();
  for (let at = half; at < point.length; at += 32) {
    let value = 0n;
    for (let k = 31; k >= 0; k--) value = (value << 8n) | BigInt(point[at + k] ?? 0);
    negated.set(encodeIntegers([(Fp.ORDER - value) % Fp.ORDER]), at);
  }
  return negated;
}

/** Point i is factors[i] times the generator. 0 is infinity; negative factors are opposite points. */
export function encodePoints(group: 'g1' | 'g2', factors: readonly number[]): Uint8Array {
  const size = group === 'g1' ? 64 : 128;
  const bytes = new Uint8Array(factors.length * size);
  factors.forEach((factor, index) => {
    if (factor === 0) return;
    const positive = group === 'g1' ? multipleG1(Math.abs(factor)) : multipleG2(Math.abs(factor));
    bytes.set(factor < 0 ? negate(positive) : positive, index * size);
  });
  return bytes;
}

function expectedFactor(factors: readonly number[], scalars: readonly bigint[]): bigint {
  return Fr.create(
    factors.reduce((sum, factor, index) => sum + BigInt(factor) * (scalars[index] ?? 0n), 0n),
  );
}

export function expectG1(factors: readonly number[], scalars: readonly bigint[]): G1Affine {
  const factor = expectedFactor(factors, scalars);
  return factor === 0n ? undefined : G1.BASE.multiply(factor).toAffine();
}

export function expectG2(factors: readonly number[], scalars: readonly bigint[]): G2Affine {
  const factor = expectedFactor(factors, scalars);
  if (factor === 0n) return undefined;
  const { x, y } = G2.BASE.multiply(factor).toAffine();
  return { x: [x.c0, x.c1], y: [y.c0, y.c1] };
}

/** Scalars and points of every structure that made a multi-scalar multiplication fail before. */
export function listCases(size: number) {
  const random = createRandom(BigInt(size) + 7n);
  const all = <T>(of: (index: number) => T): T[] => Array.from({ length: size }, (_, k) => of(k));
  const counted = all((k) => (k % 200) + 1);
  const scalars = all(() => random.scalar());
  return {
    random: { factors: counted, scalars },
    'all zero': { factors: counted, scalars: all(() => 0n) },
    'all one': { factors: counted, scalars: all(() => 1n) },
    'all r-1': { factors: counted, scalars: all(() => R - 1n) },
    'around r/2': { factors: counted, scalars: all((k) => (R - 1n) / 2n + BigInt(k % 3)) },
    'powers of two': { factors: counted, scalars: all((k) => 1n << BigInt(k % 254)) },
    'powers of two less one': {
      factors: counted,
      scalars: all((k) => (1n << BigInt(k % 254)) - 1n),
    },
    'one not zero': {
      factors: counted,
      scalars: all((k) => (k === size >> 1 ? (scalars[0] ?? 5n) : 0n)),
    },
    'one point repeated, one scalar': {
      factors: all(() => 3),
      scalars: all(() => scalars[0] ?? 5n),
    },
    'one point repeated': { factors: all(() => 3), scalars },
    'all infinity': { factors: all(() => 0), scalars },
    'many infinite': { factors: all((k) => (k % 3 === 0 ? k % 100 : 0)), scalars },
    'points and their negatives': {
      factors: all((k) => ((k & 1) === 0 ? ((k >> 1) % 150) + 1 : -((k >> 1) % 150) - 1)),
      scalars: all((k) => scalars[k >> 1] ?? 1n),
    },
    'as circuits have them': {
      factors: counted,
      scalars: all((k) =>
        k % 2 === 0 ? 1n : k % 5 === 0 ? (scalars[k] ?? 0n) : k % 7 === 0 ? R - 1n : 0n,
      ),
    },
  } satisfies Record<string, { factors: number[]; scalars: bigint[] }>;
}
