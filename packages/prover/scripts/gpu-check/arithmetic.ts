/**
 * The number of field multiplications of a proof, counted from its plan. Divided by the measured multiplications of the device per
 * second, it gives the minimum time for these formulas. In G2 three products of the base field count as one of the
 * extension, two as one square.
 */
import type { Group } from '../../src/webgpu/curve/curve-fields.ts';
import type { PartPlan } from '../../src/webgpu/msm/msm-plan.ts';

/** Products and squares of adding an affine point to a sum (madd-2008-s), and of adding two sums (add-2008-s). */
const formulas = {
  mixed: { products: 8, squares: 2 },
  full: { products: 12, squares: 2 },
} as const;
function count(group: Group, formula: keyof typeof formulas): number {
  const { products, squares } = formulas[formula];
  return group === 'g1' ? products + squares : 3 * products + 2 * squares;
}

export type MsmArithmetic = {
  /** One addition per digit that is not zero: the limit of a sum. */
  readonly additions: number;
  /** The additional cost of the buckets: joining of parts, and two running sums. */
  readonly buckets: number;
};

/** @param digits - of all scalars, those that are not zero */
export function countMsm(group: Group, plans: readonly PartPlan[], digits: number): MsmArithmetic {
  return {
    additions: digits * count(group, 'mixed'),
    buckets: plans.reduce((sum, { params }) => sum + 3 * params.keys * count(group, 'full'), 0),
  };
}

/** Signed digits that are not zero of each scalar or its negative, whichever is smaller: as the device cuts them. */
export function countDigits(scalars: readonly bigint[], bits: number, modulus: bigint): number {
  const size = 1n << BigInt(bits);
  let total = 0;
  for (const scalar of scalars) {
    let rest = scalar > (modulus - 1n) / 2n ? modulus - scalar : scalar;
    while (rest > 0n) {
      const digit = rest % size;
      rest /= size;
      if (digit > size / 2n) rest += 1n;
      if (digit !== 0n) total++;
    }
  }
  return total;
}

/** Three polynomials to the coefficients and up to the coset: one product per pair and level, and the scaling in between. */
export function countTransforms(bits: number): number {
  const size = 2 ** bits;
  return 3 * (bits * size + size);
}
