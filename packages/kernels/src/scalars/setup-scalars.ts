/**
 * The scalars of a key's setup: the Lagrange basis at a point, linear combinations of vectors, and sums over the columns of a sparse
 * matrix that is stored by rows, which are the product of its transpose with a vector.
 *
 * @module
 */

import { bn254 } from '@noble/curves/bn254.js';
import { KernelsError } from '../runtime/errors.ts';
import { computeRootOfUnity, encodeIntegers, scalarBytes } from '../runtime/integers.ts';
import {
  placePerThread,
  type Runtime,
  runTasks,
  splitRange,
  type TaskOptions,
  withBlocks,
  yieldTurn,
} from '../runtime/runtime.ts';
import type { KernelCall } from '../runtime/thread-messages.ts';
import type { KernelTask } from '../runtime/threads.ts';
import { elementBytes } from './rows.ts';

// The Lagrange basis over roots of unity, evaluated at one point: L_j(x) = (x^n - 1) / (n·(x·ω^-j - 1)), ω of order n.

const { Fr } = bn254.fields;

/** Pairs that share an inversion, and the scratch memory for them; see codegen/rows.ts. */
const taskPairs = 512;
const scratchBytes = (18 + 2 * taskPairs) * 2 * elementBytes;
const numbersBytes = 4 * scalarBytes;

type LagrangeBasis = {
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
  const { memory } = runtime;
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
    const scratch = placePerThread(runtime, () => allocate(scratchBytes).address);
    const tasks = splitRange(size / 2, taskPairs).map(
      ([start, pairs], index): KernelTask =>
        (thread) => {
          const to = elements + 2 * start * elementBytes;
          return [
            ['setup_basis', to, places.address + index * numbersBytes, pairs, scratch(thread)],
            ['r_toCanonical', output.address + 2 * start * scalarBytes, to, 2 * pairs],
          ];
        },
    );
    await runTasks(runtime, tasks, options);
    return memory.view(output.address, output.bytes).slice();
  });
}

// Linear combinations of vectors of scalars.

const taskScalars = 2048;

/** A vector (32 bytes little-endian per scalar) and its factor, both below r. */
type ScaledScalars = { readonly factor: bigint; readonly scalars: Uint8Array };

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
    const places = placePerThread(runtime, () => ({
      sum: allocate(taskScalars * elementBytes).address,
      term: allocate(taskScalars * elementBytes).address,
    }));
    const output = inputs[0] ?? 0;
    const tasks = splitRange(length / scalarBytes, taskScalars).map(
      ([start, count]) =>
        (thread: number) => {
          const { sum, term } = places(thread);
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

/** Columns of one task: about a millisecond if a column has ten entries. */
const taskColumns = 2048;
const convertedPerTask = 4096;
/** Rows processed between two turns of the event loop. */
const sliceRows = 65_536;

/** The entries of row i have the numbers rowStart[i] to rowStart[i + 1] - 1. */
export type SparseMatrix = {
  /** One element more than the number of rows. */
  readonly rowStart: Uint32Array;
  /** Column of each entry. */
  readonly column: Uint32Array;
  /** Index of each entry's value in `values`. */
  readonly value: Uint32Array;
  /** Distinct values, 32 bytes little-endian each, below r. */
  readonly values: Uint8Array;
  readonly columns: number;
};

function checkMatrix({ rowStart, column, value, values, columns }: SparseMatrix): void {
  const refuse = (what: string): never => {
    throw new KernelsError('input_refused', `the matrix is not well-formed: ${what}`);
  };
  const known = values.length / scalarBytes;
  if (!Number.isInteger(known)) refuse('its list of values is incomplete');
  if (!Number.isInteger(columns) || columns < 1) refuse('it has no columns');
  if (column.length !== value.length || (rowStart.at(-1) ?? -1) !== column.length) {
    refuse('its parts have different lengths');
  }
  for (let row = 1; row < rowStart.length; row += 1) {
    if ((rowStart[row] ?? 0) < (rowStart[row - 1] ?? 0)) refuse('its rows are out of order');
  }
  for (let entry = 0; entry < column.length; entry += 1) {
    if ((column[entry] ?? columns) >= columns) refuse('an entry is in no column');
    if ((value[entry] ?? known) >= known) refuse('an entry has no value');
  }
}

/** The end of each column's entries, after a zero. Columns are padded to an even number of entries. */
function computeColumnEnds({ column, columns }: SparseMatrix): Uint32Array {
  const ends = new Uint32Array(columns + 1);
  for (let entry = 0; entry < column.length; entry += 1) {
    const place = (column[entry] ?? 0) + 1;
    ends[place] = (ends[place] ?? 0) + 1;
  }
  for (let place = 1; place <= columns; place += 1) {
    const length = ends[place] ?? 0;
    ends[place] = (ends[place - 1] ?? 0) + length + (length % 2);
  }
  return ends;
}

/** Writes the entries by columns, as codegen/rows.ts reads them. Value 0 of the kernel is zero and serves as padding. */
async function transpose(
  { rowStart, column, value }: SparseMatrix,
  ends: Uint32Array,
  place: () => Uint32Array,
  signal: AbortSignal | undefined,
): Promise<void> {
  place().fill(0);
  const next = ends.slice();
  for (const [first, rows] of splitRange(rowStart.length - 1, sliceRows)) {
    const into = place();
    for (let row = first; row < first + rows; row += 1) {
      const end = rowStart[row + 1] ?? 0;
      for (let entry = rowStart[row] ?? 0; entry < end; entry += 1) {
        const own = column[entry] ?? 0;
        const at = next[own] ?? 0;
        next[own] = at + 1;
        into[2 * at] = elementBytes * ((value[entry] ?? 0) + 1);
        into[2 * at + 1] = elementBytes * row;
      }
    }
    await yieldTurn(signal);
  }
}

/**
 * For each column, the sum of value·weights[row].
 * @param weights - one scalar for each row, or more; 32 bytes little-endian each, below r
 * @returns one canonical scalar for each column
 * @throws KernelsError `input_refused`, `out_of_memory`; the signal's reason
 */
export function multiplyColumns(
  runtime: Runtime,
  matrix: SparseMatrix,
  weights: Uint8Array,
  options: TaskOptions = {},
): Promise<Uint8Array> {
  checkMatrix(matrix);
  const { memory, threads } = runtime;
  const { signal } = options;
  const { values, columns } = matrix;
  const rows = matrix.rowStart.length - 1;
  if (weights.length < rows * scalarBytes) {
    throw new KernelsError(
      'input_refused',
      'there are fewer weights than rows; pass one weight for each row',
    );
  }
  const ends = computeColumnEnds(matrix);
  const total = ends[columns] ?? 0;
  return withBlocks(memory, async (allocate) => {
    const bytesAt = allocate(
      Math.max(values.length, rows * scalarBytes, columns * scalarBytes),
    ).address;
    const known = values.length / scalarBytes;
    const valuesAt = allocate((known + 1) * elementBytes).address;
    const weightsAt = allocate(rows * elementBytes).address;
    const sumsAt = allocate(columns * elementBytes).address;
    const endsAt = allocate(ends.byteLength).address;
    const entries = allocate(8 * total);
    memory.view(valuesAt, elementBytes).fill(0);
    const convert = async (to: number, bytes: Uint8Array): Promise<void> => {
      memory.view(bytesAt, bytes.length).set(bytes);
      const tasks = splitRange(bytes.length / scalarBytes, convertedPerTask).map(
        ([start, count]): KernelTask => [
          ['r_fromCanonical', to + start * elementBytes, bytesAt + start * scalarBytes, count],
        ],
      );
      await threads.run(tasks, { signal });
    };
    await convert(valuesAt + elementBytes, values);
    await convert(weightsAt, weights.subarray(0, rows * scalarBytes));
    const words = (address: number, length: number) =>
      new Uint32Array(memory.view(address, 4 * length).buffer, address, length);
    words(endsAt, ends.length).set(ends);
    await transpose(matrix, ends, () => words(entries.address, 2 * total), signal);
    const tasks = splitRange(columns, taskColumns).map(([first, count]): KernelTask => {
      const to = sumsAt + first * elementBytes;
      return [
        ['setup_sums', to, endsAt + 4 * first, entries.address, valuesAt, weightsAt, count],
        ['r_toCanonical', bytesAt + first * scalarBytes, to, count],
      ];
    });
    await runTasks(runtime, tasks, options);
    return memory.view(bytesAt, columns * scalarBytes).slice();
  });
}
