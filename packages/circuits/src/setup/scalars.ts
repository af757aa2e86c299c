/**
 * Field elements as bytes: 32 each, little-endian, below the modulus.
 *
 * @module
 */

/** Bytes of a scalar and of a coordinate. */
export const elementBytes = 32;

const wordMask = (1n << 64n) - 1n;

/** Elements one after the other. */
export function encodeScalars(values: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(values.length * elementBytes);
  const view = new DataView(bytes.buffer);
  values.forEach((value, i) => {
    for (let word = 0; word < 4; word++) {
      view.setBigUint64(i * elementBytes + 8 * word, (value >> BigInt(64 * word)) & wordMask, true);
    }
  });
  return bytes;
}

/** Element number `index`. */
export function decodeScalar(bytes: Uint8Array, index: number): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset + index * elementBytes, elementBytes);
  return [24, 16, 8, 0].reduce((value, at) => (value << 64n) | view.getBigUint64(at, true), 0n);
}
