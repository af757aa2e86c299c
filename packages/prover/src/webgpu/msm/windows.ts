/**
 * How a sum of multiples is divided: width of the signed digits, how many multiples of every point are precomputed, and how many
 * buckets there are. Pure arithmetic on sizes; the costs are counted in field multiplications and were derived, not measured
 * (docs/gpu.md).
 *
 * A scalar s (or r - s, whichever is smaller, with the point's sign turned) is written as sum over j of d_j 2^(bits j) with
 * |d_j| <= 2^(bits-1). With tables, point t of a base P is 2^(bits groups t) P, and digit j = t groups + g puts point t into
 * bucket |d_j| of group g. Digits of all tables share the groups' buckets; with as many tables as digits there is one group.
 *
 * @module
 */
import { limitError } from '../device/bindings.ts';

/** All scalars below r fit once the smaller of s and r - s is taken: that is below 2^253, and a last digit must not carry on. */
const signedScalarBits = 254;
const smallestDigit = 2;
const largestDigit = 22;

/** Field multiplications: adding an affine point to a sum, and adding two sums. */
const mixedAdditionCost = 10;
const additionCost = 14;
/** Additions per bucket: joining its parts, and two in the running sums. */
const additionsPerBucket = 3;
/** Buckets are 128 or 256 bytes each and counted in one dispatch of 64 threads per workgroup. */
const mostBuckets = 1 << 21;

export type WindowLimits = {
  /** Points that are not infinity. */
  readonly points: number;
  /** Bytes of an affine point on the device: 64 or 128. */
  readonly pointBytes: number;
  /** Memory for points and their precomputed multiples together; the points themselves are kept even if they exceed it. */
  readonly tableBudgetBytes: number;
  /** Largest buffer that a shader can reach. */
  readonly bindingBytes: number;
  /** Share of digits that are not zero, 0..1, as expected; 1 for random scalars. */
  readonly density: number;
};

export type WindowPlan = {
  /** Width of a digit. */
  readonly bits: number;
  /** Digits of a scalar. */
  readonly windows: number;
  /** Multiples kept of every point, itself included. */
  readonly tables: number;
  /** Sets of buckets; windows <= tables * groups. */
  readonly groups: number;
  /** Buckets of a group: 2^(bits-1). */
  readonly buckets: number;
};

/** The plan for a given width of digits and the requested number of tables, or fewer if fewer suffice. */
export function computeWindowPlan(bits: number, mostTables: number): WindowPlan {
  if (!Number.isInteger(bits) || bits < smallestDigit || bits > largestDigit) {
    throw new RangeError(`digits have ${smallestDigit} to ${largestDigit} bits`);
  }
  const windows = Math.ceil(signedScalarBits / bits);
  const groups = Math.ceil(windows / Math.max(1, Math.min(mostTables, windows)));
  return {
    bits,
    windows,
    groups,
    tables: Math.ceil(windows / groups),
    buckets: 2 ** (bits - 1),
  };
}

function estimateCost(plan: WindowPlan, limits: WindowLimits): number {
  return (
    limits.points * limits.density * plan.windows * mixedAdditionCost +
    plan.groups * plan.buckets * additionsPerBucket * additionCost
  );
}

/** The cheapest plan within the limits. */
export function chooseWindowPlan(limits: WindowLimits): WindowPlan {
  const room = Math.min(limits.tableBudgetBytes, limits.bindingBytes);
  const mostTables = Math.max(
    1,
    Math.floor(room / (Math.max(1, limits.points) * limits.pointBytes)),
  );
  let best: WindowPlan | undefined;
  for (let bits = smallestDigit; bits <= largestDigit; bits++) {
    const plan = computeWindowPlan(bits, mostTables);
    const bucketCount = plan.groups * plan.buckets;
    // A sum takes twice the bytes of an affine point.
    const fits =
      bucketCount <= mostBuckets && bucketCount * limits.pointBytes * 2 <= limits.bindingBytes;
    if (fits && (best === undefined || estimateCost(plan, limits) < estimateCost(best, limits))) {
      best = plan;
    }
  }
  if (best === undefined) {
    const { buckets, groups } = computeWindowPlan(smallestDigit, mostTables);
    throw limitError('buckets', groups * buckets * limits.pointBytes * 2, limits.bindingBytes);
  }
  return best;
}
