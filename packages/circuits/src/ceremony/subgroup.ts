/**
 * Membership of points of the twist in G2. Its curve has many more points than G2, some of tiny order: such a point in a key, or
 * handed to a contributor, would leak what it is multiplied with.
 *
 * A point P of the twist belongs to G2 if and only if psi(P) = [6 x^2] P, psi being the untwisted Frobenius and x the parameter of
 * the curve (Scott, A note on group membership tests for G1, G2 and GT on BLS pairing-friendly curves; Dai, Lin, Zhao, Zhou, Fast
 * subgroup membership testings for G1, G2 and GT on pairing-friendly curves, section 4 for BN curves).
 *
 * @module
 */
import { bn254 } from '@noble/curves/bn254.js';
import { BASE_FIELD_ORDER as Q } from '../field.ts';
import type { PointArithmetic } from './point-arithmetic.ts';
import { asBuffer, encodeInteger, pointBytes, readInteger, writeInteger } from './points.ts';

const X = 4965661367192848881n;
const SCALAR = encodeInteger(6n * X * X);

const { Fp2 } = bn254.fields;
const NON_RESIDUE = { c0: 9n, c1: 1n };
const FACTOR_X = Fp2.pow(NON_RESIDUE, (Q - 1n) / 3n);
const FACTOR_Y = Fp2.pow(NON_RESIDUE, (Q - 1n) / 2n);

/** Multiplies the conjugate of an element in Montgomery form (which the plain factor leaves in that form). */
const twistCoordinate = (
  from: Buffer,
  to: Buffer,
  offset: number,
  { c0, c1 }: { readonly c0: bigint; readonly c1: bigint },
): void => {
  const [re, minusIm] = [readInteger(from, offset), Q - readInteger(from, offset + 32)];
  writeInteger((re * c0 + minusIm * (Q - c1)) % Q, to, offset);
  writeInteger((re * c1 + minusIm * c0) % Q, to, offset + 32);
};

/** psi of encoded points; infinity stays infinity. */
const applyFrobenius = (points: Uint8Array): Buffer => {
  const from = asBuffer(points);
  const to = Buffer.alloc(from.length);
  for (let start = 0; start < from.length; start += pointBytes.g2) {
    twistCoordinate(from, to, start, FACTOR_X);
    twistCoordinate(from, to, start + 64, FACTOR_Y);
  }
  return to;
};

/** The first of these points of the twist that is not in G2; undefined if all are. They must lie on the curve. */
export const findOutsideSubgroup = async (
  arithmetic: PointArithmetic,
  points: Uint8Array,
): Promise<number | undefined> => {
  if (points.length === 0) {
    return undefined;
  }
  const expected = applyFrobenius(points);
  const actual = asBuffer(await arithmetic.multiplyPoints('g2', points, SCALAR));
  for (let start = 0; start < actual.length; start += pointBytes.g2) {
    const end = start + pointBytes.g2;
    if (actual.compare(expected, start, end, start, end) !== 0) {
      return start / pointBytes.g2;
    }
  }
  return undefined;
};
