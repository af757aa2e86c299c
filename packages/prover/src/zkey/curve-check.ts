/**
 * Checks that points of a proving key are on their curve: y² = x³ + 3 over F_q, or y² = x³ + 3 / (9 + i) over F_q².
 *
 * @module
 */
import { baseFieldOrder, readCoordinate } from '../base/field.ts';

function reduce(value: bigint): bigint {
  const rest = value % baseFieldOrder;
  return rest < 0n ? rest + baseFieldOrder : rest;
}

/** Words of q, the lowest first. */
const orderWords = [
  0xd87cfd47, 0x3c208c16, 0x6871ca8d, 0x97816a91, 0x8181585d, 0xb85045b6, 0xe131a029, 0x30644e72,
] as const;

/** Whether every group of 32 bytes is below q. Fast: almost always, one word decides. */
export function areCoordinatesBelowOrder(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let end = 28; end < bytes.length; end += 32) {
    let word = 7;
    let at = end;
    let found = view.getUint32(at, true);
    let bound: number = orderWords[7];
    while (found === bound && word > 0) {
      word -= 1;
      at -= 4;
      found = view.getUint32(at, true);
      bound = orderWords[word] ?? 0;
    }
    if (found >= bound) {
      return false;
    }
  }
  return true;
}

/** A point of G1 at `start`, not the point at infinity. */
export function isOnG1(bytes: Uint8Array, start = 0): boolean {
  const x = readCoordinate(bytes, start);
  const y = readCoordinate(bytes, start + 32);
  return reduce(y * y - x * x * x - 3n) === 0n;
}

type Fp2 = readonly [bigint, bigint];

function multiply(a: Fp2, b: Fp2): Fp2 {
  return [reduce(a[0] * b[0] - a[1] * b[1]), reduce(a[0] * b[1] + a[1] * b[0])];
}

/** 9 + i. The b of the twist is 3 divided by it. */
const twist: Fp2 = [9n, 1n];

/** A point on the twist, not at infinity. It may be outside the subgroup, which is sufficient because every proof is verified. */
export function isOnG2(bytes: Uint8Array, start = 0): boolean {
  const x: Fp2 = [readCoordinate(bytes, start), readCoordinate(bytes, start + 32)];
  const y: Fp2 = [readCoordinate(bytes, start + 64), readCoordinate(bytes, start + 96)];
  const square = multiply(y, y);
  const cube = multiply(multiply(x, x), x);
  const [real, imaginary] = multiply([square[0] - cube[0], square[1] - cube[1]], twist);
  return real === 3n && imaginary === 0n;
}
