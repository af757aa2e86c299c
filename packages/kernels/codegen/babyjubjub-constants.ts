// Baby Jubjub (EIP-2494) over BN254's scalar field, and every constant that its kernels need, derived from the curve's
// equation 168700·x² + y² = 1 + 168696·x²·y².
//
// The kernels compute on the isomorphic curve -X² + y² = 1 + D·X²·y² with X = x·√-168700, D = -168696/168700, where a
// point is added in 8 multiplications instead of 9. -1 is a square and D is not, so the addition law is complete there
// too: it has no exceptional case for any pair of points (Hisil, Wong, Carter, Dawson: eprint 2008/522, §3.1 and §4).

import { FpIsSquare } from '@noble/curves/abstract/modular.js';
import { bn254 } from '@noble/curves/bn254.js';
import { babyjubjub } from '@noble/curves/misc.js';

const { Fr } = bn254.fields;

const curveA = 168_700n;
const curveD = 168_696n;

function times(...factors: readonly bigint[]): bigint {
  return factors.reduce((product, factor) => Fr.create(product * factor), 1n);
}
function over(a: bigint, b: bigint): bigint {
  return Fr.div(Fr.create(a), Fr.create(b));
}

/** r - 1 = 2^28 · oddPart. */
export const twoAdicity = 28;
export const oddPart = (Fr.ORDER - 1n) >> BigInt(twoAdicity);

/** A generator of the 2^28-th roots of unity: 5 generates the field's multiplicative group, so its power does. */
export const rootOfUnity = Fr.pow(5n, oddPart);

/** D. */
export const twistedD = over(-curveD, curveA);
/** x = X · xScale. */
export const xScale = Fr.inv(Fr.sqrt(Fr.create(-curveA)));

type Point = { readonly x: bigint; readonly y: bigint };

/** The first point of order 8 among the multiples of points by the subgroup's order, y = 2, 3, … */
function findPointOfOrderEight(): { readonly order8: Point; readonly order4: Point } {
  const { Point, CURVE } = { Point: babyjubjub.Point, CURVE: babyjubjub.Point.CURVE() };
  for (let y = 2n; ; y++) {
    const square = over(1n - y * y, curveA - curveD * y * y);
    if (!FpIsSquare(Fr, square)) continue;
    const point = Point.fromAffine({ x: Fr.sqrt(square), y });
    const candidate = point.multiplyUnsafe(CURVE.n - 1n).add(point);
    const { x, y: doubledY } = candidate.double();
    if (doubledY === 0n) return { order8: candidate.toAffine(), order4: { x, y: 0n } };
  }
}

/**
 * The subgroup test. The points of order dividing 8 are cyclic (only (0, -1) has order 2, as d is not a square), so a point
 * E is in the subgroup of odd order exactly if E = 8·Q for some Q, and that holds exactly if its Tate pairing of order 8
 * with a point T of order 8 is trivial: the pairing is not degenerate, and the field holds the 8th roots of unity. (Method:
 * D. Koshelev, eprint 2022/037.) So E is in the subgroup exactly if f(E) is an 8th power, that is f(E)^((r-1)/8) = 1,
 * where f has an 8-fold zero at T, an 8-fold pole at the identity and is normalised there.
 *
 * On the Montgomery curve v² = u³ + A·u² + u, A = 2(a+d)/(a-d) = 168698, u = (1+y)/(1-y), v = u/x (v has the coefficient
 * 4/(a-d) = 1), Miller's doublings give, with t(P) the tangent at P and u(2T) = 1, u(4T) = 0:
 *
 *   f = t(T)^4 · t(2T)^2 / ((u-1)^4 · u)
 *
 * Each tangent has the form v - v' - s·(u-u'). In x and y, with (1+y)·(1-y) = x²·(a - d·y²) and up to 8th powers (a factor
 * counts modulo 8, so a power of 4 in the denominator may move to the numerator, and f may be replaced by 1/f):
 *
 *   1/f ~ (a - d·y²) · (L2³ · (L1 · 2y)²)²
 *   L2 = (1+y) · (1 - tateSlope·x)            from t(2T)
 *   L1 = (1+y) - x·(tate0 + tate1·y)         from t(T)
 *
 * The factors vanish at multiples of T only, which are not in the subgroup; 0 is not an 8th power in this test, so
 * they are refused. The identity, where f has its pole, is refused before (x = 0).
 */
function deriveTateConstants(): { slope: bigint; line: readonly [bigint, bigint] } {
  const { order8, order4 } = findPointOfOrderEight();
  const u = over(1n + order8.y, 1n - order8.y);
  const v = over(u, order8.x);
  const montgomeryA = over(2n * (curveA + curveD), curveA - curveD);
  const slope = over(3n * u * u + 2n * montgomeryA * u + 1n, 2n * v);
  // The tangent at 2T = (1, v') goes through 4T = (0, 0): its slope is v' = 1/x'.
  return {
    slope: Fr.inv(order4.x),
    line: [Fr.create(v + slope - slope * u), Fr.create(slope - v + slope * u)],
  };
}

const tate = deriveTateConstants();

/** For points (X, y): L2 = (1+y)·(1 - tateSlope·X), L1 = (1+y) - X·(tate0 + tate1·y), a - d·y² = a·(1 + D·y²). */
export const tateSlope = times(tate.slope, xScale);
export const tate0 = times(tate.line[0], xScale);
export const tate1 = times(tate.line[1], xScale);
/** a, and the 2^4 of (2y)^4. */
export const tateFactor = 16n * curveA;

/**
 * The common part of the exponents: every power here is composed of w^((oddPart-1)/2), whose exponent is
 * written as steps (squarings, then multiplication by the odd power w^(2·index+1)).
 */
export const powerWindow = 5;
export const powerSteps: readonly (readonly [squarings: number, index: number])[] = [
  ...((oddPart - 1n) / 2n)
    .toString(2)
    .matchAll(new RegExp(`(0*)(1(?:[01]{0,${powerWindow - 2}}1)?)`, 'g')),
].map(([whole, , window = '']) => [whole.length, (Number.parseInt(window, 2) - 1) / 2]);
