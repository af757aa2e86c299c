/**
 * Checks that points of a proving key are on their curve: y² = x³ + 3 over F_q, or y² = x³ + 3 / (9 + i) over F_q².
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import { readCoordinate } from '../base/field.ts';

const { Fp, Fp2 } = bn254.fields;
const twist = bn254.G2.Point.CURVE().b;

/** A point of G1 at `start`, not the point at infinity. */
export function isOnG1(bytes: Uint8Array, start = 0): boolean {
  const x = readCoordinate(bytes, start);
  return Fp.eql(Fp.sqr(readCoordinate(bytes, start + 32)), Fp.add(Fp.mul(Fp.sqr(x), x), 3n));
}

/** A point on the twist, not at infinity. It may be outside the subgroup, which is sufficient because every proof is verified. */
export function isOnG2(bytes: Uint8Array, start = 0): boolean {
  const read = (at: number) => ({
    c0: readCoordinate(bytes, start + at),
    c1: readCoordinate(bytes, start + at + 32),
  });
  const x = read(0);
  return Fp2.eql(Fp2.sqr(read(64)), Fp2.add(Fp2.mul(Fp2.sqr(x), x), twist));
}
