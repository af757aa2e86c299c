/**
 * The fields of BN254, and coordinates as proving keys hold them: times 2^256 mod q, 32 bytes little-endian.
 *
 * @module
 */

/** Base field order q: coordinates are below it. */
export const BASE_FIELD_ORDER =
  21888242871839275222246405745257275088696311157297823662689037894645226208583n;

/** Scalar field order r: scalars, wires and public signals are below it. */
export const SCALAR_FIELD_ORDER =
  21888242871839275222246405745257275088548364400416034343698204186575808495617n;

/** 2^-256 mod q. */
const MONTGOMERY_INVERSE =
  20988524275117001072002809824448087578619730785600314334253784976379291040311n;

/** A little-endian integer of 32 bytes. */
export const readInteger = (bytes: Uint8Array, start: number): bigint => {
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, 32);
  let value = 0n;
  for (let word = 3; word >= 0; word--) {
    value = (value << 64n) | view.getBigUint64(8 * word, true);
  }
  return value;
};

/** A coordinate of a proving key as an integer below q. */
export const readCoordinate = (bytes: Uint8Array, start: number): bigint =>
  (readInteger(bytes, start) * MONTGOMERY_INVERSE) % BASE_FIELD_ORDER;
