/**
 * How much of a device's memory the engine uses for what. WebGPU does not say how much there is, so there is a budget.
 *
 * @module
 */
import type { ZkeyHeader } from '../zkey/zkey.ts';

/** Half of a consumer card of 8 GB; what a server card is worth is set by the operator. */
export const DEFAULT_MEMORY_BUDGET_BYTES = 4 * 2 ** 30;
/** Ready multiples of one key's points may take this share; the rest is for other keys and the work itself. */
const TABLE_SHARE = 1 / 4;

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

/** Memory for the points of one sum and their multiples: each sum's part of what the key may take. */
export const tableBudget = (
  header: ZkeyHeader,
  section: SumSection,
  memoryBudgetBytes: number,
): number => {
  const all = pointBytes(header);
  if (all === 0) return 0;
  const own = countSumPoints(header)[section] * SUM_POINT_BYTES[section];
  return Math.floor((memoryBudgetBytes * TABLE_SHARE * own) / all);
};

/** Digits of a scalar that a sum sorts, about: decides the memory that it works in. */
const DIGITS = 20;
const DIGIT_BYTES = 8;
/** Buckets and parts of sums, about. */
const WORKSPACE_BYTES = 64 * 2 ** 20;

/** Memory without which a key cannot even be held. */
export const leastDeviceBytes = (header: ZkeyHeader): number =>
  pointBytes(header) + header.domainSize * 32 * 5 + header.coefficients * 8;

/** Memory that a key and one proof under it take, at most. */
export const estimateDeviceBytes = (header: ZkeyHeader, memoryBudgetBytes: number): number => {
  const points = pointBytes(header);
  const tables = Math.max(points, Math.min(memoryBudgetBytes * TABLE_SHARE, points * DIGITS));
  const rows = header.domainSize * (32 * 7 + 8) + header.coefficients * 8 + header.wires * 32;
  const work = Math.max(header.wires, header.domainSize) * DIGITS * DIGIT_BYTES + WORKSPACE_BYTES;
  return Math.ceil(tables + rows + work);
};
