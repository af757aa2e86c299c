/**
 * Sums over the columns of a sparse matrix that is stored by rows: the product of its transpose with a vector.
 *
 * @module
 */
import { KernelsError } from '../runtime/errors.ts';
import { scalarBytes } from '../runtime/integers.ts';
import {
  nextTurn,
  type Runtime,
  runTasks,
  splitRange,
  type TaskOptions,
  withBlocks,
} from '../runtime/runtime.ts';
import type { KernelTask } from '../runtime/threads.ts';
import { elementBytes } from './rows.ts';

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

/** Writes the entries by columns, as codegen/setup.ts reads them. Value 0 of the kernel is zero and serves as padding. */
async function transpose(
  { rowStart, column, value }: SparseMatrix,
  ends: Uint32Array,
  into: Uint32Array,
  signal: AbortSignal | undefined,
): Promise<void> {
  into.fill(0);
  const next = ends.slice();
  for (const [first, rows] of splitRange(rowStart.length - 1, sliceRows)) {
    for (let row = first; row < first + rows; row += 1) {
      const end = rowStart[row + 1] ?? 0;
      for (let entry = rowStart[row] ?? 0; entry < end; entry += 1) {
        const own = column[entry] ?? 0;
        const place = next[own] ?? 0;
        next[own] = place + 1;
        into[2 * place] = elementBytes * ((value[entry] ?? 0) + 1);
        into[2 * place + 1] = elementBytes * row;
      }
    }
    await nextTurn(signal);
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
    const { buffer } = memory.view(endsAt, ends.byteLength);
    new Uint32Array(buffer, endsAt, ends.length).set(ends);
    await transpose(matrix, ends, new Uint32Array(buffer, entries.address, 2 * total), signal);
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
