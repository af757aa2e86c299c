/**
 * Field elements between BigInt and the 32 bytes, lowest first, that a device and a witness hold.
 *
 * @module
 */
export const ELEMENT_BYTES = 32;
const WORD_MASK = (1n << 64n) - 1n;

export const encodeElements = (values: readonly bigint[]): Uint8Array => {
  const bytes = new Uint8Array(values.length * ELEMENT_BYTES);
  const view = new DataView(bytes.buffer);
  values.forEach((value, index) => {
    for (let k = 0; k < 4; k++) {
      view.setBigUint64(index * ELEMENT_BYTES + 8 * k, (value >> BigInt(64 * k)) & WORD_MASK, true);
    }
  });
  return bytes;
};

export const decodeElements = (bytes: Uint8Array): readonly bigint[] => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: Math.floor(bytes.byteLength / ELEMENT_BYTES) }, (_, index) => {
    let value = 0n;
    for (let k = 3; k >= 0; k--) {
      value = (value << 64n) | view.getBigUint64(index * ELEMENT_BYTES + 8 * k, true);
    }
    return value;
  });
};
