/**
 * The sizes of one multi-scalar multiplication: how its points are divided so that everything fits the device's limits, its working memory,
 * and its dispatches. Pure.
 *
 * @module
 */
import { affineBytes, type Group, sumBytes } from '../curve/curve-fields.ts';
import { type MsmParams, mostSlices } from './msm-bindings.ts';
import type { WorkspaceNeeds } from './msm-workspace.ts';
import { chooseWindowPlan, computeWindowPlan, type WindowPlan } from './windows.ts';

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
 * Threads of one segment each. A large card runs about 50,000 of them at a time (some 160 registers each); two to three rounds leave
 * little of it idle in the last one, and each further segment costs one addition.
 */
export const segmentsWanted = 1 << 17;
/** Below this, joining the parts costs more than the parallelism saves. */
export const segmentLeast = 4;
/** About 84 and 117 million field multiplications: 10 ms on a large card, below half a second on the smallest. */
const sliceAdditions: Readonly<Record<Group, number>> = { g1: 1 << 23, g2: 1 << 22 };
/** 64 threads per workgroup and 65,535 workgroups are enough for 2^22. */
const mostPoints = 1 << 21;
const chunkSize = 8;
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
  const segment = tuning.segment ?? {
    least: segmentLeast,
    most: Math.max(segmentLeast, Math.ceil(entries / segmentsWanted)),
    wanted: segmentsWanted,
  };
  const segments = Math.max(
    Math.min(segment.wanted, Math.ceil(entries / segment.least)),
    Math.ceil(entries / segment.most),
  );
  const room = nextPowerOfTwo(segments);
  const additions = tuning.sliceAdditions ?? sliceAdditions[group];
  const sliceSegments = Math.max(
    64,
    64 * Math.floor(additions / segment.most / 64),
    64 * Math.ceil(segments / mostSlices / 64),
  );
  const keys = windows.groups * windows.buckets;
  const chunk = Math.min(chunkSize, windows.buckets);
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
