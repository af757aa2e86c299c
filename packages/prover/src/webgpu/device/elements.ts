/**
 * Converts field elements between BigInt and the 32 bytes, lowest first, of a device and of a witness.
 *
 * @module
 */
export const elementBytes = 32;
const wordMask = (1n << 64n) - 1n;

export function encodeElements(values: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(values.length * elementBytes);
  const view = new DataView(bytes.buffer);
  values.forEach((value, index) => {
    for (let k = 0; k < 4; k++) {
      view.setBigUint64(index * elementBytes + 8 * k, (value >> BigInt(64 * k)) & wordMask, true);
    }
  });
  return bytes;
}

export function decodeElements(bytes: Uint8Array): readonly bigint[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: Math.floor(bytes.byteLength / elementBytes) }, (_, index) => {
    let value = 0n;
    for (let k = 3; k >= 0; k--) {
      value = (value << 64n) | view.getBigUint64(index * elementBytes + 8 * k, true);
    }
    return value;
  });
}
