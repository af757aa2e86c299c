/**
 * BN254's two prime fields, and their elements as bytes: 32 each, little-endian.
 *
 * @module
 */
import { pow } from '@noble/curves/abstract/modular.js';

/** q: coordinates of points are below it (EIP-196). */
export const baseFieldOrder: bigint =
  0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47n;

/** r, the order of G1 and G2: scalars, circuit signals and public inputs are below it. */
export const scalarFieldOrder: bigint =
  0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001n;

/** Bytes of a scalar and of a coordinate. */
export const scalarBytes = 32;

/** Integers below 2^256, one after the other. */
export function encodeIntegers(
  values: readonly bigint[],
  into: Uint8Array = new Uint8Array(scalarBytes * values.length),
): Uint8Array {
  const view = new DataView(into.buffer, into.byteOffset, into.byteLength);
  for (const [index, value] of values.entries()) {
    for (let word = 0; word < 4; word += 1) {
      const bits = BigInt.asUintN(64, value >> BigInt(64 * word));
      view.setBigUint64(scalarBytes * index + 8 * word, bits, true);
    }
  }
  return into;
}

/** Integer number `index`. */
export function decodeInteger(bytes: Uint8Array, index: number): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset + scalarBytes * index, scalarBytes);
  return [24, 16, 8, 0].reduce((value, at) => (value << 64n) | view.getBigUint64(at, true), 0n);
}

/** Reads all integers of 32 bytes. */
export function decodeIntegers(bytes: Uint8Array): bigint[] {
  return Array.from({ length: Math.floor(bytes.length / scalarBytes) }, (_, index) =>
    decodeInteger(bytes, index),
  );
}

function wordsOf(order: bigint): readonly number[] {
  return Array.from({ length: 8 }, (_, i) => Number(BigInt.asUintN(32, order >> BigInt(32 * i))));
}
const orderWords = { base: wordsOf(baseFieldOrder), scalar: wordsOf(scalarFieldOrder) };

/** Whether all integers are below the order of the field. Fast: almost always, one word decides. */
export function areBelowOrder(field: 'base' | 'scalar', bytes: Uint8Array): boolean {
  const limits = orderWords[field];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let end = 28; end < bytes.length; end += scalarBytes) {
    let word = 7;
    while (word > 0 && view.getUint32(end - 28 + 4 * word, true) === limits[word]) word -= 1;
    if (view.getUint32(end - 28 + 4 * word, true) >= (limits[word] ?? 0)) return false;
  }
  return true;
}

/** A primitive root of unity of order 2^k modulo r, k = 0 … 28. Each is the square of the next. 5 is the smallest non-residue, as in snarkjs. */
export function computeRootOfUnity(k: number): bigint {
  return pow(5n, (scalarFieldOrder - 1n) >> BigInt(k), scalarFieldOrder);
}
