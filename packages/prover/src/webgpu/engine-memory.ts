/**
 * How much of a device's memory the engine uses for what. WebGPU does not say how much there is, so there is a budget.
 *
 * @module
 */
import type { ZkeyHeader } from '../zkey/zkey.ts';
import { SEGMENT_LEAST, SEGMENTS_WANTED } from './msm-plan.ts';

/** Half of a consumer card of 8 GB; what a server card is worth is set by the operator. */
export const DEFAULT_MEMORY_BUDGET_BYTES = 4 * 2 ** 30;
/** Ready multiples of one key's points may take this share; the rest is for other keys and the work itself. */
export const DEFAULT_TABLE_SHARE = 1 / 4;

/** Sums of a key, with the bytes of one point each. */
export const SUM_POINT_BYTES = { a: 64, b1: 64, b2: 128, c: 64, h: 64 } as const;
export type SumSection = keyof typeof SUM_POINT_BYTES;

export const countSumPoints = (header: ZkeyHeader): Readonly<Record<SumSection, number>> => ({
  a: header.wires,
  b1: header.wires,
  b2: header.wires,
  c: Math.max(0, header.wires - header.publicSignals - 1),
  h: header.domainSize,
});

const SECTIONS = Object.keys(SUM_POINT_BYTES) as SumSection[];

const pointBytes = (header: ZkeyHeader): number => {
  const counts = countSumPoints(header);
  return SECTIONS.reduce((sum, section) => sum + counts[section] * SUM_POINT_BYTES[section], 0);
};

/** Memory for the points of one sum and their multiples: each sum's part of `budgetBytes`, which all of the key's may take. */
export const tableBudget = (
  header: ZkeyHeader,
  section: SumSection,
  budgetBytes: number,
): number => {
  const all = pointBytes(header);
  if (all === 0) return 0;
  const own = countSumPoints(header)[section] * SUM_POINT_BYTES[section];
  return Math.floor((budgetBytes * own) / all);
};

/** Digits of a scalar that a sum sorts, about: decides the memory that it works in. */
const DIGITS = 20;
/** An entry, and its share of the buckets of G2, of which there are fewer than an eighth as many. */
const DIGIT_BYTES = 8 + 256 / 8;
/** Parts of sums in G2: heads, the levels above them and tails. */
const SEGMENT_BYTES = 3 * 256;
/** What small keys need besides: uniforms, plans, blocks of points. */
const LEAST_WORK_BYTES = 2 ** 20;

/** Memory that the sums over this many points work in. */
const workBytes = (points: number): number => {
  const digits = points * DIGITS;
  const segments = Math.min(SEGMENTS_WANTED, digits / SEGMENT_LEAST);
  const room = 2 ** Math.ceil(Math.log2(Math.max(1, segments)));
  return digits * DIGIT_BYTES + room * SEGMENT_BYTES + LEAST_WORK_BYTES;
};

/** Memory without which a key cannot even be held. */
export const leastDeviceBytes = (header: ZkeyHeader): number =>
  pointBytes(header) + header.domainSize * 32 * 5 + header.coefficients * 8;

/** Memory that a key and one proof under it take, at most. */
export const estimateDeviceBytes = (
  header: ZkeyHeader,
  memoryBudgetBytes: number,
  tableShare: number,
): number => {
  const points = pointBytes(header);
  const tables = Math.max(points, Math.min(memoryBudgetBytes * tableShare, points * DIGITS));
  const rows = header.domainSize * (32 * 7 + 8) + header.coefficients * 8 + header.wires * 32;
  const work = workBytes(Math.max(header.wires, header.domainSize));
  return Math.ceil(tables + rows + work);
};
