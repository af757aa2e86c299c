/**
 * How much of a device's memory the engine uses for what. WebGPU does not say how much there is, so there is a budget.
 *
 * @module
 */
import type { ZkeyHeader } from '../zkey/zkey.ts';
import { segmentLeast, segmentsWanted } from './msm-plan.ts';

/** Half of a consumer card of 8 GB; what a server card is worth is set by the operator. */
export const defaultMemoryBudgetBytes = 4 * 2 ** 30;
/** Ready multiples of one key's points may take this share; the rest is for other keys and the work itself. */
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

/** Memory for the points of one sum and their multiples: each sum's part of `budgetBytes`, which all of the key's may take. */
export function tableBudget(header: ZkeyHeader, section: SumSection, budgetBytes: number): number {
  const all = pointBytes(header);
  if (all === 0) return 0;
  const own = countSumPoints(header)[section] * sumPointBytes[section];
  return Math.floor((budgetBytes * own) / all);
}

/** Digits of a scalar that a sum sorts, about: decides the memory that it works in. */
const digitCount = 20;
/** An entry, and its share of the buckets of G2, of which there are fewer than an eighth as many. */
const digitBytes = 8 + 256 / 8;
/** Parts of sums in G2: heads, the levels above them and tails. */
const segmentBytes = 3 * 256;
/** What small keys need besides: uniforms, plans, blocks of points. */
const leastWorkBytes = 2 ** 20;

/** Memory that the sums over this many points work in. */
function workBytes(points: number): number {
  const digits = points * digitCount;
  const segments = Math.min(segmentsWanted, digits / segmentLeast);
  const room = 2 ** Math.ceil(Math.log2(Math.max(1, segments)));
  return digits * digitBytes + room * segmentBytes + leastWorkBytes;
}

/** Memory without which a key cannot even be held. */
export function leastDeviceBytes(header: ZkeyHeader): number {
  return pointBytes(header) + header.domainSize * 32 * 5 + header.coefficients * 8;
}

/** Memory that a key and one proof under it take, at most. */
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
