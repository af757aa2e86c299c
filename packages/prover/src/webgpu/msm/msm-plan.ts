/**
 * The sizes of one multi-scalar multiplication: how its points are divided so that everything fits the device's limits, its working memory,
 * and its dispatches. Pure.
 *
 * @module
 */
import { affineBytes, type Group, sumBytes } from '../curve/curve-fields.ts';
import { limitError } from '../device/bindings.ts';
import { type MsmParams, mostSlices } from './msm-bindings.ts';
import type { WorkspaceNeeds } from './msm-workspace.ts';

// How a sum of multiples is divided: width of the signed digits, how many multiples of every point are precomputed, and how many
// buckets there are. Pure arithmetic on sizes; the costs are counted in field multiplications and were derived, not measured
// (docs/gpu.md).
//
// A scalar s (or r - s, whichever is smaller, with the point's sign turned) is written as sum over j of d_j 2^(bits j) with
// |d_j| <= 2^(bits-1). With tables, point t of a base P is 2^(bits groups t) P, and digit j = t groups + g puts point t into
// bucket |d_j| of group g. Digits of all tables share the groups' buckets; with as many tables as digits there is one group.

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

type WindowLimits = {
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

/** Fixed sizes, for tests and measurements; sizes that are omitted are chosen. */
export type MsmTuning = {
  /** Width of the digits. */
  readonly bits?: number;
  /** Maximum number of multiples kept of a point. */
  readonly tables?: number;
  /** Entries that one thread sums, minimum and maximum, and the intended number of threads. */
  readonly segment?: { readonly least: number; readonly most: number; readonly wanted: number };
  /** Maximum number of additions in one dispatch. */
  readonly sliceAdditions?: number;
  /** Maximum number of points in one part. */
  readonly partPoints?: number;
};

export type MsmLimits = {
  readonly group: Group;
  readonly bindingBytes: number;
  readonly tableBudgetBytes: number;
  readonly density: number;
  readonly tuning: MsmTuning;
};

export type PartPlan = {
  readonly windows: WindowPlan;
  readonly params: MsmParams;
  readonly needs: WorkspaceNeeds;
};

/**
 * Threads of one segment each: of a part that is one dispatch, and of a larger one. Each further segment costs one addition, and a card
 * needs enough threads in every dispatch. On an H200, with 2^16 and 2^18 points, 2^17 take 3 to 6 % longer than 2^15, and 2^14 up to two
 * fifths; with 2^20 points in G1, 2^16 take 13 % longer than 2^17.
 */
const segmentsOfOneDispatch = 1 << 15;
export const segmentsMost = 1 << 17;
/** Below this, joining the parts costs more than the parallelism saves. */
export const segmentLeast = 4;
/** About 84 and 117 million field multiplications: 10 ms on a large card, below half a second on the smallest. */
const sliceAdditions: Readonly<Record<Group, number>> = { g1: 1 << 23, g2: 1 << 22 };
/** 64 threads per workgroup and 65,535 workgroups are enough for 2^22. */
const mostPoints = 1 << 21;

/**
 * Buckets that one thread weighs, a power of two. Small: additions that wait for each other take 20 us in G1 and 80 us in G2 each on an
 * H200, and eight buckets take 19 of them. With many buckets, the number of all additions counts, and the memory of the results.
 */
function chooseChunk(keys: number): number {
  return keys <= 1 << 17 ? 2 : 8;
}
const bytesPerEntry = 8;

function nextPowerOfTwo(value: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, value)));
}

function chooseWindows(points: number, limits: MsmLimits): WindowPlan {
  const { tuning, group } = limits;
  const plan = chooseWindowPlan({
    points,
    pointBytes: affineBytes(group),
    tableBudgetBytes: limits.tableBudgetBytes,
    bindingBytes: limits.bindingBytes,
    density: limits.density,
  });
  if (tuning.bits === undefined && tuning.tables === undefined) return plan;
  return computeWindowPlan(tuning.bits ?? plan.bits, tuning.tables ?? plan.tables);
}

function planPart(points: number, limits: MsmLimits): PartPlan {
  const { group, tuning } = limits;
  const windows = chooseWindows(points, limits);
  const entries = points * windows.windows;
  const additions = tuning.sliceAdditions ?? sliceAdditions[group];
  const wanted = entries > additions ? segmentsMost : segmentsOfOneDispatch;
  const segment = tuning.segment ?? {
    least: segmentLeast,
    most: Math.max(segmentLeast, Math.ceil(entries / wanted)),
    wanted,
  };
  const segments = Math.max(
    Math.min(segment.wanted, Math.ceil(entries / segment.least)),
    Math.ceil(entries / segment.most),
  );
  const room = nextPowerOfTwo(segments);
  const sliceSegments = Math.max(
    64,
    64 * Math.floor(additions / segment.most / 64),
    64 * Math.ceil(segments / mostSlices / 64),
  );
  const keys = windows.groups * windows.buckets;
  const chunk = Math.min(chooseChunk(keys), windows.buckets);
  return {
    windows,
    params: {
      points,
      bits: windows.bits,
      windows: windows.windows,
      groups: windows.groups,
      buckets: windows.buckets,
      keys,
      segment_least: segment.least,
      segment_most: segment.most,
      segments_wanted: segment.wanted,
      segment_room: room,
      slice_segments: sliceSegments,
      slices: Math.ceil(segments / sliceSegments),
      chunk,
      chunk_bits: Math.log2(chunk),
    },
    needs: {
      keys: 4 * keys,
      entries: bytesPerEntry * entries,
      buckets: keys * sumBytes(group),
      // Heads, the levels above them and tails; later, at the same place, R and D of all levels of chunks.
      parts: sumBytes(group) * Math.max(3 * room, (4 * keys) / chunk),
    },
  };
}

/** Plans of the parts into which `points` finite points are divided; all but the last have equally many. */
export function planMsm(points: number, limits: MsmLimits): readonly PartPlan[] {
  if (points === 0) return [];
  const most = Math.min(
    limits.tuning.partPoints ?? mostPoints,
    Math.floor(limits.bindingBytes / affineBytes(limits.group)),
  );
  const fits = ({ needs }: PartPlan): boolean =>
    Object.values(needs).every((bytes) => bytes <= limits.bindingBytes);
  for (let count = Math.ceil(points / most); ; count++) {
    const share = Math.ceil(points / count);
    const shared = { ...limits, tableBudgetBytes: Math.floor(limits.tableBudgetBytes / count) };
    const first = planPart(share, shared);
    if (!fits(first) && share > 1) continue;
    // Rounding up can leave the last parts without points.
    const full = Math.floor(points / share);
    const rest = points - full * share;
    return [
      ...Array.from({ length: full }, () => first),
      ...(rest > 0 ? [planPart(rest, shared)] : []),
    ];
  }
}
