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
import type { KernelTask } from '../runtime/threads.ts';
import type { Domain } from './domain.ts';
import { describeExtension } from './ntt.ts';
import { elementBytes, type Rows } from './rows.ts';
import type { ScalarVector } from './scalars.ts';

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
    return createResident(domain.size, output);
  });
}
