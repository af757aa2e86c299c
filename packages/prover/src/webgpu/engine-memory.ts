/**
 * How the engine divides a device's memory. WebGPU does not report its size, so there is a budget.
 *
 * @module
 */
import type { ZkeyHeader } from '../zkey/zkey.ts';
import { segmentLeast, segmentsMost } from './msm/msm-plan.ts';

/** Half of a consumer card of 8 GB; for a server card the operator sets it. */
export const defaultMemoryBudgetBytes = 4 * 2 ** 30;
/** Precomputed multiples of one key's points may use this share; the rest is for other keys and the work itself. */
export const defaultTableShare = 1 / 4;

/** Sums of a key, with the bytes of one point each. */
export const sumPointBytes = { a: 64, b1: 64, b2: 128, c: 64, h: 64 } as const;
export type SumSection = keyof typeof sumPointBytes;

export function countSumPoints(header: ZkeyHeader): Readonly<Record<SumSection, number>> {
  return {
    a: header.wires,
    b1: header.wires,
    b2: header.wires,
    c: Math.max(0, header.wires - header.publicSignals - 1),
    h: header.domainSize,
  };
}

const sections = Object.keys(sumPointBytes) as SumSection[];

function pointBytes(header: ZkeyHeader): number {
  const counts = countSumPoints(header);
  return sections.reduce((sum, section) => sum + counts[section] * sumPointBytes[section], 0);
}

/** Memory for the points of one sum and their multiples: each sum's part of `budgetBytes`, which is for all sums of the key together. */
export function tableBudget(header: ZkeyHeader, section: SumSection, budgetBytes: number): number {
  const all = pointBytes(header);
  if (all === 0) return 0;
  const own = countSumPoints(header)[section] * sumPointBytes[section];
  return Math.floor((budgetBytes * own) / all);
}

/** Approximate number of digits of a scalar that a sum sorts. It decides the working memory. */
const digitCount = 20;
/** An entry, and its share of the buckets of G2, of which there are fewer than an eighth as many. */
const digitBytes = 8 + 256 / 8;
/** Parts of sums in G2: heads, the levels above them and tails. */
const segmentBytes = 3 * 256;
/** What small keys need in addition: uniforms, plans, blocks of points. */
const leastWorkBytes = 2 ** 20;

/** Working memory of the sums over this number of points. */
function workBytes(points: number): number {
  const digits = points * digitCount;
  const segments = Math.min(segmentsMost, digits / segmentLeast);
  const room = 2 ** Math.ceil(Math.log2(Math.max(1, segments)));
  return digits * digitBytes + room * segmentBytes + leastWorkBytes;
}

/** The minimum memory for a key. */
export function leastDeviceBytes(header: ZkeyHeader): number {
  return pointBytes(header) + header.domainSize * 32 * 5 + header.coefficients * 8;
}

/** The maximum memory of a key and one proof under it. */
export function estimateDeviceBytes(
  header: ZkeyHeader,
  memoryBudgetBytes: number,
  tableShare: number,
): number {
  const points = pointBytes(header);
  const tables = Math.max(points, Math.min(memoryBudgetBytes * tableShare, points * digitCount));
  const rows = header.domainSize * (32 * 7 + 8) + header.coefficients * 8 + header.wires * 32;
  const work = workBytes(Math.max(header.wires, header.domainSize));
  return Math.ceil(tables + rows + work);
}
