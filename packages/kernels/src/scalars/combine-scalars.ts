/**
 * Linear combinations of vectors of scalars.
 *
 * @module
 */
import { KernelsError } from '../runtime/errors.ts';
import { encodeIntegers, scalarBytes } from '../runtime/integers.ts';
import {
  type Runtime,
  runTasks,
  splitRange,
  type TaskOptions,
  withBlocks,
} from '../runtime/runtime.ts';
import type { KernelCall } from '../runtime/thread-messages.ts';
import { elementBytes } from './rows.ts';

const taskScalars = 2048;

/** A vector (32 bytes little-endian per scalar) and its factor, both below r. */
export type ScaledScalars = { readonly factor: bigint; readonly scalars: Uint8Array };

/**
 * The sum of factor·scalars over the terms. There must be at least one term, and all must have the same length.
 * @returns canonical scalars
 * @throws KernelsError `input_refused`, `out_of_memory`; the signal's reason
 */
export function combineScalars(
  runtime: Runtime,
  terms: readonly ScaledScalars[],
  options: TaskOptions = {},
): Promise<Uint8Array> {
  const { memory, threads } = runtime;
  const length = terms[0]?.scalars.length ?? 0;
  if (
    length === 0 ||
    length % scalarBytes !== 0 ||
    terms.some(({ scalars }) => scalars.length !== length)
  ) {
    throw new KernelsError(
      'input_refused',
      'the vectors must have the same length, and at least one scalar',
    );
  }
  return withBlocks(memory, async (allocate) => {
    const inputs = terms.map(({ scalars }) => {
      const block = allocate(length);
      memory.view(block.address, length).set(scalars);
      return block.address;
    });
    // The kernels multiply vector by vector, so the factor is repeated as a vector.
    const factors = terms.map(() => allocate(taskScalars * elementBytes).address);
    const repeated = allocate(taskScalars * scalarBytes);
    for (const [index, { factor }] of terms.entries()) {
      const values = Array.from({ length: taskScalars }, () => factor);
      encodeIntegers(values, memory.view(repeated.address, repeated.bytes));
      await threads.run(
        [[['r_fromCanonical', factors[index] ?? 0, repeated.address, taskScalars]]],
        { signal: options.signal },
      );
    }
    const places = Array.from({ length: threads.count }, () => ({
      sum: allocate(taskScalars * elementBytes).address,
      term: allocate(taskScalars * elementBytes).address,
    }));
    const output = inputs[0] ?? 0;
    const tasks = splitRange(length / scalarBytes, taskScalars).map(
      ([start, count]) =>
        (thread: number) => {
          const { sum, term } = places[thread] ?? { sum: 0, term: 0 };
          const offset = start * scalarBytes;
          return [
            ...inputs.flatMap((input, index): KernelCall[] => {
              const to = index === 0 ? sum : term;
              return [
                ['r_fromCanonical', to, input + offset, count],
                ['r_multiply', to, to, factors[index] ?? 0, count],
                ...(index === 0 ? [] : [['r_add', sum, sum, term, count] as const]),
              ];
            }),
            ['r_toCanonical', output + offset, sum, count] as const,
          ];
        },
    );
    await runTasks(runtime, tasks, options);
    return memory.view(output, length).slice();
  });
}
