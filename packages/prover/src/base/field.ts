/**
 * The fields of BN254, and coordinates in the encoding of proving keys: times 2^256 mod q, 32 bytes little-endian. The threads of
 * the prover start without flags and load only files of this package, so the orders are not imported from kernels.
 *
 * @module
 */

/** Base field order q. Coordinates are below it. */
export const baseFieldOrder =
  21888242871839275222246405745257275088696311157297823662689037894645226208583n;

/** Scalar field order r. Scalars, wires and public signals are below it. */
export const scalarFieldOrder =
  21888242871839275222246405745257275088548364400416034343698204186575808495617n;

/** 2^-256 mod q. */
const montgomeryInverse =
  20988524275117001072002809824448087578619730785600314334253784976379291040311n;

/** Reads a little-endian integer of 32 bytes. */
export function readInteger(bytes: Uint8Array, start: number): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, 32);
  let value = 0n;
  for (let word = 3; word >= 0; word--) {
    value = (value << 64n) | view.getBigUint64(8 * word, true);
  }
  return value;
}

/** Reads a coordinate of a proving key as an integer below q. */
export function readCoordinate(bytes: Uint8Array, start: number): bigint {
  return (readInteger(bytes, start) * montgomeryInverse) % baseFieldOrder;
}
