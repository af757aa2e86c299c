/**
 * The quotient on the odd coset by the textbook: dot products, interpolation with the definition of the inverse transform,
 * evaluation at each point. It uses BigInt and no fast transform.
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';

const { Fr } = bn254.fields;
export const R = Fr.ORDER;

export type Entry = {
  readonly matrix: 0 | 1;
  readonly row: number;
  readonly wire: number;
  readonly value: bigint;
};

/** A primitive root of order 2^k. 5 is a quadratic non-residue modulo r, and each root is the square of the next. */
export function rootOfOrder(size: number): bigint {
  return Fr.pow(5n, (R - 1n) / BigInt(size));
}

function interpolate(values: readonly bigint[]): bigint[] {
  const n = values.length;
  const inverse = Fr.inv(rootOfOrder(n));
  const powers = values.map((_, i) => Fr.pow(inverse, BigInt(i)));
  return values.map((_, k) => {
    const sum = values.reduce((total, value, i) => total + value * (powers[(i * k) % n] ?? 0n), 0n);
    return Fr.div(Fr.create(sum), BigInt(n));
  });
}

function evaluate(coefficients: readonly bigint[], x: bigint): bigint {
  return coefficients.reduceRight((sum, coefficient) => (sum * x + coefficient) % R, 0n);
}

export function multiplyRows(
  entries: readonly Entry[],
  matrix: 0 | 1,
  size: number,
  witness: readonly bigint[],
): bigint[] {
  const products = Array.from({ length: size }, () => 0n);
  for (const { matrix: which, row, wire, value } of entries) {
    if (which !== matrix) continue;
    products[row] = Fr.create((products[row] ?? 0n) + value * (witness[wire] ?? 0n));
  }
  return products;
}

/** a·b - c at g·w^i, i = 0 … size-1. */
export function quotientByDefinition(
  entries: readonly Entry[],
  size: number,
  witness: readonly bigint[],
): bigint[] {
  const a = multiplyRows(entries, 0, size, witness);
  const b = multiplyRows(entries, 1, size, witness);
  const c = a.map((value, i) => Fr.mul(value, b[i] ?? 0n));
  const [pa, pb, pc] = [interpolate(a), interpolate(b), interpolate(c)];
  const g = rootOfOrder(2 * size);
  const w = rootOfOrder(size);
  let x = g;
  return a.map(() => {
    const value = Fr.sub(Fr.mul(evaluate(pa, x), evaluate(pb, x)), evaluate(pc, x));
    x = Fr.mul(x, w);
    return value;
  });
}

export function encodeScalars(scalars: readonly bigint[]): Uint8Array {
  return Buffer.concat(
    scalars.map((s) => Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()),
  );
}

export function decodeScalars(bytes: Uint8Array): bigint[] {
  return Array.from({ length: bytes.length / 32 }, (_, i) =>
    BigInt(
      `0x${Buffer.from(bytes.slice(32 * i, 32 * i + 32))
        .reverse()
        .toString('hex')}`,
    ),
  );
}

const fileFactor = (1n << 512n) % R;

/** The entries as a proving key stores them. */
export function toCoefficients(entries: readonly Entry[]) {
  const places = new Map<bigint, number>();
  const value = Uint32Array.from(entries, (entry) => {
    const place = places.get(entry.value) ?? places.size;
    places.set(entry.value, place);
    return place;
  });
  return {
    matrix: Uint8Array.from(entries, (entry) => entry.matrix),
    row: Uint32Array.from(entries, (entry) => entry.row),
    wire: Uint32Array.from(entries, (entry) => entry.wire),
    value,
    values: encodeScalars([...places.keys()].map((v) => Fr.mul(v, fileFactor))),
  };
}

/** A generator of numbers from a seed: a counter raised to the power 65537, which shows no structure. */
export function createNumbers(seed: bigint) {
  let state = seed;
  const scalar = (): bigint => {
    state = Fr.create(state + 0x9e3779b97f4a7c15f39cc0605cedc834n);
    return Fr.pow(state, 65537n);
  };
  return { scalar, below: (limit: number): number => Number(scalar() % BigInt(limit)) };
}
