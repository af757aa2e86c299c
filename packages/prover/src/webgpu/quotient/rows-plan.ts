/**
 * The matrices A and B of a circuit, laid out for a device: entries in the order of their rows, and rows too long for one
 * thread cut into segments whose sums are summed again, level by level. Pure arithmetic on indexes.
 *
 * @module
 */
import { ProverError } from '../../base/errors.ts';
import type { ZkeyCoefficients } from '../../zkey/zkey.ts';

/** Terms that one thread adds up. */
export const segmentTerms = 32;

export type RowsPlan = {
  /** Entry k: wire entries[2k], value entries[2k+1] of the dictionary. */
  readonly entries: Uint32Array;
  /**
   * Sum i of a level adds terms starts[i] … starts[i+1]-1: entries on the first level, sums of the level before on the others. The last
   * level has two sums per row of the domain: all of A, then all of B.
   */
  readonly levels: readonly Uint32Array[];
};

function accumulate(counts: Uint32Array): Uint32Array {
  const starts = new Uint32Array(counts.length + 1);
  let total = 0;
  counts.forEach((count, index) => {
    total += count;
    starts[index + 1] = total;
  });
  return starts;
}

function longest(starts: Uint32Array): number {
  let most = 0;
  for (let i = 1; i < starts.length; i++) {
    most = Math.max(most, (starts[i] ?? 0) - (starts[i - 1] ?? 0));
  }
  return most;
}

/** Cuts every group into segments; `groups` counts the segments of each. */
function cut(starts: Uint32Array): {
  readonly segments: Uint32Array;
  readonly groups: Uint32Array;
} {
  const counts = new Uint32Array(starts.length - 1);
  for (let i = 0; i < counts.length; i++) {
    counts[i] = Math.ceil(((starts[i + 1] ?? 0) - (starts[i] ?? 0)) / segmentTerms);
  }
  const groups = accumulate(counts);
  const segments = new Uint32Array((groups.at(-1) ?? 0) + 1);
  let at = 0;
  for (let i = 0; i < counts.length; i++) {
    const end = starts[i + 1] ?? 0;
    for (let from = starts[i] ?? 0; from < end; from += segmentTerms) segments[at++] = from;
  }
  segments[at] = starts.at(-1) ?? 0;
  return { segments, groups };
}

/** @throws ProverError `zkey_malformed` for a row, wire or value that does not exist */
export function planRows(
  coefficients: ZkeyCoefficients,
  domainSize: number,
  wires: number,
): RowsPlan {
  const { matrix, row, wire, value, values } = coefficients;
  const valueCount = values.byteLength / 32;
  const counts = new Uint32Array(2 * domainSize);
  const place = (k: number): number => (matrix[k] === 0 ? 0 : domainSize) + (row[k] ?? 0);
  for (let k = 0; k < matrix.length; k++) {
    const isInside =
      (row[k] ?? domainSize) < domainSize &&
      (wire[k] ?? wires) < wires &&
      (value[k] ?? valueCount) < valueCount;
    if (!isInside) {
      throw new ProverError('zkey_malformed', `entry ${k} of the matrices points nowhere`);
    }
    const at = place(k);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  const rowStarts = accumulate(counts);
  const next = rowStarts.slice(0, -1);
  const entries = new Uint32Array(2 * matrix.length);
  for (let k = 0; k < matrix.length; k++) {
    const at = place(k);
    const position = next[at] ?? 0;
    next[at] = position + 1;
    entries[2 * position] = wire[k] ?? 0;
    entries[2 * position + 1] = value[k] ?? 0;
  }
  const levels: Uint32Array[] = [];
  let starts = rowStarts;
  while (longest(starts) > segmentTerms) {
    const { segments, groups } = cut(starts);
    levels.push(segments);
    starts = groups;
  }
  levels.push(starts);
  return { entries, levels };
}
