/**
 * The Lagrange basis over roots of unity, evaluated at one point: L_j(x) = (x^n - 1) / (n·(x·ω^-j - 1)), ω of order n.
 *
 * @module
 */

import { bn254 } from '@noble/curves/bn254.js';
import { KernelsError } from '../runtime/errors.ts';
import { computeRootOfUnity, encodeIntegers, scalarBytes } from '../runtime/integers.ts';
import {
  type Runtime,
  runTasks,
  splitRange,
  type TaskOptions,
  withBlocks,
} from '../runtime/runtime.ts';
import type { KernelTask } from '../runtime/threads.ts';
import { elementBytes } from './rows.ts';

const { Fr } = bn254.fields;

/** Pairs that share an inversion, and the scratch memory for them; see codegen/setup.ts. */
const taskPairs = 512;
const scratchBytes = (18 + 2 * taskPairs) * 2 * elementBytes;
const numbersBytes = 4 * scalarBytes;

export type LagrangeBasis = {
  /** n, a power of two, 2 … 2^27. */
  readonly size: number;
  /** x, in 0 … r-1. It must not be one of the roots. */
  readonly point: bigint;
  /** Factor for every value. Default: 1. */
  readonly factor?: bigint | undefined;
  /** Only the n odd elements, j = 1, 3, …, of the basis over the 2n-th roots, instead of all n over the n-th roots. */
  readonly odd?: boolean | undefined;
};

/** Arguments of the kernel's calls, one list of four per task. */
function listNumbers({ size, point, factor = 1n, odd = false }: LagrangeBasis): bigint[] {
  const order = odd ? 2 * size : size;
  const back = Fr.inv(computeRootOfUnity(Math.log2(order)));
  const vanishing = Fr.sub(Fr.pow(point, BigInt(order)), 1n);
  if (vanishing === 0n) throw new KernelsError('input_refused', 'the point is in the domain');
  const scale = Fr.mul(Fr.div(vanishing, BigInt(order)), factor);
  const step = odd ? Fr.sqr(back) : back;
  const stride = Fr.sqr(step);
  const leap = Fr.pow(stride, BigInt(taskPairs));
  let first = odd ? Fr.mul(point, back) : point;
  return splitRange(size / 2, taskPairs).flatMap(() => {
    const numbers = [first, Fr.mul(first, step), stride, scale];
    first = Fr.mul(first, leap);
    return numbers;
  });
}

/**
 * @returns n scalars, canonical
 * @throws KernelsError `input_refused`, `out_of_memory`; the signal's reason
 */
export function computeLagrangeBasis(
  runtime: Runtime,
  basis: LagrangeBasis,
  options: TaskOptions = {},
): Promise<Uint8Array> {
  const { memory, threads } = runtime;
  const { size } = basis;
  if (!Number.isInteger(Math.log2(size)) || size < 2 || size > 2 ** 27) {
    throw new KernelsError(
      'input_refused',
      'the size of a basis must be a power of two from 2 to 2^27',
    );
  }
  const numbers = listNumbers(basis);
  return withBlocks(memory, async (allocate) => {
    const places = allocate(numbers.length * scalarBytes);
    encodeIntegers(numbers, memory.view(places.address, places.bytes));
    const elements = allocate(size * elementBytes).address;
    const output = allocate(size * scalarBytes);
    const scratch = Array.from({ length: threads.count }, () => allocate(scratchBytes).address);
    const tasks = splitRange(size / 2, taskPairs).map(
      ([start, pairs], index): KernelTask =>
        (thread) => {
          const to = elements + 2 * start * elementBytes;
          return [
            ['setup_basis', to, places.address + index * numbersBytes, pairs, scratch[thread] ?? 0],
            ['r_toCanonical', output.address + 2 * start * scalarBytes, to, 2 * pairs],
          ];
        },
    );
    await runTasks(runtime, tasks, options);
    return memory.view(output.address, output.bytes).slice();
  });
}
