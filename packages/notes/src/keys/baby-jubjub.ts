/**
 * Baby Jubjub (EIP-2494), the twisted Edwards curve over BN254's scalar field (protocol §1, §2), on the kernels. They take the same
 * steps for every scalar and refuse every point outside the subgroup: a small-order component would leak the scalar modulo 8
 * to the party that supplied the point.
 *
 * @module
 */
import { bigintToBytes, fieldModulus } from '@pool/core';
import type { CurvePoint } from '@pool/kernels';
import { directKernels } from '../hash/direct-kernels.ts';

/** l, the order of the subgroup that B8 generates. */
export const subgroupOrder: bigint =
  0x60c89ce5c263405370a08b6d0302b0bab3eedb83920ee0a677297dc392126f1n;

const pointBytes = 32;
const signBit = 0x80;
/** B8. */
const basePoint = packPoint({
  x: 0xbb77a6ad63e739b4eacb2e09d6277c12ab8d8010534e0b62893f3f6bb957051n,
  y: 0x25797203f7a0b24925572e1cd16bf9edfce0051fb9e133774b3c257a872d7d8bn,
});

/** iden3's packing: y little-endian, bit 255 set if and only if x > (r-1)/2. The point is not checked. */
export function packPoint({ x, y }: CurvePoint): Uint8Array {
  const bytes = bigintToBytes(y, pointBytes).reverse();
  const isLarge = x > (fieldModulus - 1n) / 2n;
  bytes[pointBytes - 1] = (bytes[pointBytes - 1] ?? 0) | (isLarge ? signBit : 0);
  return bytes;
}

/**
 * Unpacks and fully checks a point: y < r, on the curve, in the subgroup, not the identity, no sign bit at x = 0.
 * @returns undefined for any other bytes
 */
export function unpackPoint(packed: Uint8Array): CurvePoint | undefined {
  return directKernels().multiplyPoints(packed)[0];
}

/** scalar · B8. @param scalar - 1 … l-1, secret */
export function multiplyBase(scalar: bigint): CurvePoint {
  const [product] = directKernels().multiplyPoints(basePoint, scalar);
  if (product === undefined) {
    throw new TypeError('the kernels refuse the base point');
  }
  return product;
}

/**
 * Both points of a Diffie–Hellman exchange, packed, in the time of one product.
 * @param packed - the other party's point; untrusted
 * @param scalar - 1 … l-1, secret
 * @returns scalar · B8 and scalar · point, of which the second is secret. Undefined if {@link unpackPoint} refuses the point
 */
export function exchange(
  packed: Uint8Array,
  scalar: bigint,
): { readonly own: Uint8Array; readonly shared: Uint8Array } | undefined {
  const both = new Uint8Array(2 * pointBytes);
  both.set(basePoint);
  both.set(packed, pointBytes);
  const [own, shared] = directKernels().multiplyPoints(both, scalar);
  return own === undefined || shared === undefined
    ? undefined
    : { own: packPoint(own), shared: packPoint(shared) };
}
