/**
 * The quotient polynomial of a Groth16 proof on the odd coset. a = A·w, b = B·w and c = a∘b on the domain; the three polynomials
 * through them are evaluated at g·ω^i (ω is a root of unity of the domain's order n, g² = ω); the result there is a·b - c. On the
 * coset, the vanishing polynomial x^n - 1 is the constant -2, which the key's points contain.
 *
 * Source: J. Groth, "On the size of pairing-based non-interactive arguments", EUROCRYPT 2016 (eprint 2016/260), §3.
 *
 * @module
 */

import { KernelsError } from '../runtime/errors.ts';
import { scalarBytes } from '../runtime/integers.ts';
import {
  createResident,
  createTaskCounter,
  type Runtime,
  splitRange,
  type TaskOptions,
  withBlocks,
} from '../runtime/runtime.ts';
import type { KernelCall } from '../runtime/thread-messages.ts';
import type { KernelTask } from '../runtime/threads.ts';
import { type Domain, pairBytes } from './domain.ts';
import { elementBytes, type Rows } from './rows.ts';
import type { ScalarVector } from './scalars.ts';

// Tasks that transform the values of polynomials on a domain into their values on the odd coset, times n.

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
function describeExtension(domain: Domain, vectors: readonly number[]): KernelTask[][] {
  return [
    vectors.flatMap((vector) => describeColumns(domain, 'ntt_inverse', vector)),
    vectors.flatMap((vector) => describeRows(domain, vector)),
    vectors.flatMap((vector) => describeColumns(domain, 'ntt_forward', vector)),
  ].filter((tasks) => tasks.length > 0);
}

/** Rows of the domain per task that combines. */
const combinedRows = 8;
/** Scalars per task that converts. */
const convertedScalars = 8192;

/** Addresses of the vectors on the domain. */
type Vectors = { readonly a: number; readonly b: number; readonly c: number };

/** One row of the domain, as the transforms cut it, is one task. */
function describeProducts(
  domain: Domain,
  rows: Rows,
  witness: number,
  { a, b, c }: Vectors,
): KernelTask[] {
  return Array.from({ length: domain.rows }, (_, row) => {
    const offset = row * domain.rowBytes;
    const count = 2 * domain.rowPairs;
    const multiply = (to: number, { ends, entries }: Rows['a']) => {
      const place = ends + 4 * count * row;
      return ['rows_multiply', to + offset, place, entries, rows.address, witness, count] as const;
    };
    return [
      multiply(a, rows.a),
      multiply(b, rows.b),
      ['ntt_multiply', c + offset, a + offset, b + offset, domain.rowPairs],
    ];
  });
}

function describeCombination(domain: Domain, to: number, { a, b, c }: Vectors): KernelTask[] {
  return splitRange(domain.rows, combinedRows).map(([first, count]) =>
    Array.from({ length: count }, (_, i) => {
      const { rowPairs, rowBytes, inverseSize } = domain;
      const offset = (first + i) * rowBytes;
      const output = to + 2 * scalarBytes * rowPairs * (first + i);
      return ['ntt_combine', output, a + offset, b + offset, c + offset, inverseSize, rowPairs];
    }),
  );
}

/**
 * @param witness - one scalar per wire
 * @returns n scalars; the caller releases them
 * @throws KernelsError `input_refused` if the witness has another length; `out_of_memory`, `thread_died`; the signal's reason
 */
export async function computeQuotient(
  runtime: Runtime,
  domain: Domain,
  rows: Rows,
  witness: ScalarVector,
  { signal, onProgress }: TaskOptions,
): Promise<ScalarVector> {
  if (witness.count !== rows.wires) {
    throw new KernelsError(
      'input_refused',
      `the witness has ${witness.count} scalars, but the matrices have ${rows.wires} wires`,
    );
  }
  const { threads, memory } = runtime;
  return withBlocks(memory, async (allocate) => {
    const bytes = domain.vectorBytes;
    const vectors = {
      a: allocate(bytes, { secret: true }).address,
      b: allocate(bytes, { secret: true }).address,
      c: allocate(bytes, { secret: true }).address,
    };
    const wires = allocate(elementBytes * rows.wires, { secret: true });
    const output = memory.allocate(scalarBytes * domain.size, { secret: true });
    const phases = [
      splitRange(rows.wires, convertedScalars).map(([first, count]): KernelTask => {
        const to = wires.address + elementBytes * first;
        return [['r_fromCanonical', to, witness.address + scalarBytes * first, count]];
      }),
      describeProducts(domain, rows, wires.address, vectors),
      ...describeExtension(domain, [vectors.a, vectors.b, vectors.c]),
      describeCombination(domain, output.address, vectors),
    ];
    const total = phases.reduce((sum, tasks) => sum + tasks.length, 0);
    const onTaskDone = createTaskCounter(total, onProgress);
    try {
      for (const tasks of phases) await threads.run(tasks, { signal, onTaskDone });
    } catch (error) {
      output.release();
      throw error;
    }
    return createResident(domain.size, output, {});
  });
}
