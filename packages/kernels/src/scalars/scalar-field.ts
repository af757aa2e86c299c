/**
 * BN254's scalar field on BigInt, for constants; and the encoding of scalars.
 *
 * @module
 */
import { scalarFieldOrder } from '../runtime/field-orders.ts';

/** Bytes of a scalar: little-endian, below r. */
export const scalarBytes = 32;

/** The smallest quadratic non-residue modulo r. Its powers are the roots of unity that snarkjs uses. */
const nonResidue = 5n;

/** @param exponent - not negative */
export function computePower(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base % scalarFieldOrder;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % scalarFieldOrder;
    square = (square * square) % scalarFieldOrder;
  }
  return result;
}

/** The inverse, by Fermat's little theorem. @param value - not a multiple of r */
export function computeInverse(value: bigint): bigint {
  return computePower(value, scalarFieldOrder - 2n);
}

/** A primitive root of unity of order 2^k, k = 0 … 28. Each is the square of the next. */
export function computeRootOfUnity(k: number): bigint {
  return computePower(nonResidue, (scalarFieldOrder - 1n) >> BigInt(k));
}

/** Writes scalars, 32 bytes little-endian each, to the beginning of `into`. */
export function encodeScalars(scalars: readonly bigint[], into: Uint8Array): void {
  const view = new DataView(into.buffer, into.byteOffset, into.byteLength);
  for (const [index, scalar] of scalars.entries()) {
    for (let word = 0; word < 4; word += 1) {
      const bits = BigInt.asUintN(64, scalar >> BigInt(64 * word));
      view.setBigUint64(scalarBytes * index + 8 * word, bits, true);
    }
  }
}

const modulusWords = Uint32Array.from({ length: 8 }, (_, i) =>
  Number((scalarFieldOrder >> BigInt(32 * i)) & 0xffffffffn),
);

/** Whether all scalars are below r. @param words - the scalars as little-endian 32-bit words */
export function areBelowModulus(words: Uint32Array): boolean {
  const isBelow = (end: number): boolean => {
    for (let i = 7; i >= 0; i -= 1) {
      const word = words[end - 7 + i] ?? 0;
      const limit = modulusWords[i] ?? 0;
      if (word !== limit) return word < limit;
    }
    return false;
  };
  const top = modulusWords[7] ?? 0;
  for (let end = 7; end < words.length; end += 8) {
    if ((words[end] ?? 0) >= top && !isBelow(end)) return false;
  }
  return true;
}
