/**
 * Baby Jubjub (EIP-2494), the twisted Edwards curve over BN254's scalar field, on noble's arithmetic (protocol §1, §2). `multiply` takes the same
 * steps for every scalar, as far as bigints allow. A point from another party must pass {@link isSubgroupPoint} before it is
 * multiplied by a secret.
 *
 * @module
 */
import { babyjubjub } from '@noble/curves/misc.js';

/** A point in affine coordinates, each below r. */
export type CurvePoint = { readonly x: bigint; readonly y: bigint };

/** l, the order of the subgroup that B8 generates. */
export const subgroupOrder: bigint = babyjubjub.Point.CURVE().n;

const { Point } = babyjubjub;
const curve = Point.CURVE();

/** scalar · B8. @param scalar - 1 … l-1, secret */
export function multiplyBase(scalar: bigint): CurvePoint {
  return toAffine(Point.BASE.multiply(scalar));
}

/**
 * scalar · point. The result is never the identity: the point has prime order and 0 < scalar < l.
 * @param scalar - 1 … l-1, secret
 * @param point - a subgroup point other than the identity
 */
export function multiplyPoint(point: CurvePoint, scalar: bigint): CurvePoint {
  return toAffine(Point.fromAffine({ x: point.x, y: point.y }).multiply(scalar));
}

/** The non-negative square root x of (1 - y²) / (a - d y²), which is at most (r-1)/2, if it exists. */
export function computeSmallX(y: bigint): bigint | undefined {
  const field = Point.Fp;
  const squareY = field.sqr(y);
  const numerator = field.sub(field.ONE, squareY);
  const denominator = field.sub(curve.a, field.mul(curve.d, squareY));
  const square = field.div(numerator, denominator);
  try {
    const root = field.sqrt(square);
    return root > (curve.p - 1n) / 2n ? field.neg(root) : root;
  } catch {
    return undefined;
  }
}

/** True for points of the prime-order subgroup other than the identity. */
export function isSubgroupPoint(point: CurvePoint): boolean {
  try {
    const candidate = Point.fromAffine({ x: point.x, y: point.y });
    candidate.assertValidity();
    return !candidate.is0() && candidate.isTorsionFree();
  } catch {
    return false;
  }
}

function toAffine(point: InstanceType<typeof Point>): CurvePoint {
  const { x, y } = point.toAffine();
  return { x, y };
}
