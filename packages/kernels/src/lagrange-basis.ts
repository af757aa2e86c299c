/**
 * The Lagrange basis over roots of unity, at one point: L_j(x) = (x^n - 1) / (n·(x·ω^-j - 1)), ω of order n.
 *
 * @module
 */
import { KernelsError } from './errors.ts';
import { ELEMENT_BYTES } from './rows.ts';
import {
  createTaskCounter,
  type Runtime,
  splitRange,
  type TaskOptions,
  withBlocks,
} from './runtime.ts';
import {
  computeInverse,
  computePower,
  computeRootOfUnity,
  encodeScalars,
  SCALAR_BYTES,
  SCALAR_MODULUS,
} from './scalar-field.ts';
import type { KernelTask } from './threads.ts';

/** Pairs that share an inversion, and the space for them: codegen/setup.ts. */
const TASK_PAIRS = 512;
const SCRATCH_BYTES = (18 + 2 * TASK_PAIRS) * 2 * ELEMENT_BYTES;
const NUMBERS_BYTES = 4 * SCALAR_BYTES;

export type LagrangeBasis = {
  /** n, a power of two, 2 … 2^27. */
  readonly size: number;
  /** x, in 0 … r-1, not one of the roots. */
  readonly point: bigint;
  /** What every value is multiplied by. Default: 1. */
  readonly factor?: bigint | undefined;
  /** The n odd ones, j = 1, 3, …, of the basis over the 2n-th roots instead of all n over the n-th. */
  readonly odd?: boolean | undefined;
};

/** Numbers of the kernel's calls, one list of four a task. */
const listNumbers = ({ size, point, factor = 1n, odd = false }: LagrangeBasis): bigint[] => {
  const order = odd ? 2 * size : size;
  const back = computeInverse(computeRootOfUnity(Math.log2(order)));
  const vanishing = (computePower(point, BigInt(order)) + SCALAR_MODULUS - 1n) % SCALAR_MODULUS;
  if (vanishing === 0n) throw new KernelsError('input_refused', 'the point is in the domain');
  const scale =
    (((vanishing * computeInverse(BigInt(order))) % SCALAR_MODULUS) * factor) % SCALAR_MODULUS;
  const step = odd ? (back * back) % SCALAR_MODULUS : back;
  const stride = (step * step) % SCALAR_MODULUS;
  const leap = computePower(stride, BigInt(TASK_PAIRS));
  let first = odd ? (point * back) % SCALAR_MODULUS : point;
  return splitRange(size / 2, TASK_PAIRS).flatMap(() => {
    const numbers = [first, (first * step) % SCALAR_MODULUS, stride, scale];
    first = (first * leap) % SCALAR_MODULUS;
    return numbers;
  });
};

/**
 * @returns n scalars, canonical
 * @throws KernelsError `input_refused`, `out_of_memory`; the signal's reason
 */
export const computeLagrangeBasis = (
  { memory, threads }: Runtime,
  basis: LagrangeBasis,
  { signal, onProgress }: TaskOptions = {},
): Promise<Uint8Array> => {
  const { size } = basis;
  if (!Number.isInteger(Math.log2(size)) || size < 2 || size > 2 ** 27) {
    throw new KernelsError('input_refused', 'a basis has a power of two of values, 2 … 2^27');
  }
  const numbers = listNumbers(basis);
  return withBlocks(memory, async (allocate) => {
    const places = allocate(numbers.length * SCALAR_BYTES);
    encodeScalars(numbers, memory.view(places.address, places.bytes));
    const elements = allocate(size * ELEMENT_BYTES).address;
    const output = allocate(size * SCALAR_BYTES);
    const scratch = Array.from({ length: threads.count }, () => allocate(SCRATCH_BYTES).address);
    const tasks = splitRange(size / 2, TASK_PAIRS).map(
      ([start, pairs], index): KernelTask =>
        (thread) => {
          const to = elements + 2 * start * ELEMENT_BYTES;
          return [
            [
              'setup_basis',
              to,
              places.address + index * NUMBERS_BYTES,
              pairs,
              scratch[thread] ?? 0,
            ],
            ['r_toCanonical', output.address + 2 * start * SCALAR_BYTES, to, 2 * pairs],
          ];
        },
    );
    await threads.run(tasks, { signal, onTaskDone: createTaskCounter(tasks.length, onProgress) });
    return memory.view(output.address, output.bytes).slice();
  });
};
