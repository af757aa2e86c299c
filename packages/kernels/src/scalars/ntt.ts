/**
 * Tasks that transform the values of polynomials on a domain into their values on the odd coset, times n.
 *
 * @module
 */

import { splitRange } from '../runtime/runtime.ts';
import type { KernelCall } from '../runtime/thread-messages.ts';
import type { KernelTask } from '../runtime/threads.ts';
import { type Domain, pairBytes } from './domain.ts';

/** Pairs that one task transforms: about a millisecond, and 640 kB, which fit into the second-level cache. */
const taskPairs = 8192;
/** Minimum number of columns per task, so that whole cache lines are used. */
const minimumColumnPairs = 4;

/** The stages between the rows, for all columns. There are none if the domain is one row. */
function describeColumns(
  domain: Domain,
  kernel: 'ntt_inverse' | 'ntt_forward',
  vector: number,
): KernelTask[] {
  const { rows, rowPairs, rowBytes } = domain;
  if (rows === 1) return [];
  const columnPairs = Math.max(minimumColumnPairs, Math.floor(taskPairs / rows));
  const table = kernel === 'ntt_inverse' ? domain.inverseTable : domain.forwardTable;
  return splitRange(rowPairs, columnPairs).map(([column, pairs]) => [
    [kernel, vector + column * pairBytes, rowBytes, rows, pairs, table + column * pairBytes],
  ]);
}

/** Everything within the rows: the end of the inverse transform and the start of the forward transform. */
function describeRows(domain: Domain, vector: number): KernelTask[] {
  const { rows, rowPairs, rowBytes, inverseTable, forwardTable } = domain;
  const perTask = Math.max(1, Math.floor(taskPairs / 4 / rowPairs));
  return splitRange(rows, perTask).map(([first, count]) =>
    Array.from({ length: count }, (_, i) => {
      const row = vector + (first + i) * rowBytes;
      return [
        ['ntt_inverse', row, pairBytes, rowPairs, 1, inverseTable],
        ['ntt_turn', row, rowPairs, forwardTable],
        ['ntt_forward', row, pairBytes, rowPairs, 1, forwardTable],
      ] satisfies KernelCall[];
    }).flat(),
  );
}

/**
 * The tasks in three phases, which must run one after another.
 * @param vectors - addresses of the values in natural order, in pairs. The results replace the values
 */
export function describeExtension(domain: Domain, vectors: readonly number[]): KernelTask[][] {
  return [
    vectors.flatMap((vector) => describeColumns(domain, 'ntt_inverse', vector)),
    vectors.flatMap((vector) => describeRows(domain, vector)),
    vectors.flatMap((vector) => describeColumns(domain, 'ntt_forward', vector)),
  ].filter((tasks) => tasks.length > 0);
}
