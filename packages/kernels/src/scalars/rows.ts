/**
 * The matrices A and B of a constraint system in the kernels' memory.
 *
 * Each row is a sequence of entries of two u32 each: the byte offset of a value in the dictionary and of a wire in the witness.
 * Entries are processed in pairs, so a row of odd length ends with an entry for the value zero, which is the first in the
 * dictionary.
 *
 * @module
 */
import { KernelsError } from '../runtime/errors.ts';
import { scalarBytes } from '../runtime/integers.ts';
import type { Block } from '../runtime/memory.ts';
import {
  createResident,
  type Resident,
  type Runtime,
  splitRange,
  withBlocks,
  yieldTurn,
} from '../runtime/runtime.ts';
import type { ZkeyCoefficients } from '../zkey/zkey-coefficients.ts';

/** Bytes of a field element in the kernels' memory. */
export const elementBytes = 40;
/** Entries processed between two turns of the event loop. */
const slice = 262_144;
const convertedPerTask = 4096;

/** Entries in any order. Several entries for the same place are added. */
export type RowsInput = ZkeyCoefficients & {
  /** Rows, a power of two, 2 … 2^27. */
  readonly domainSize: number;
  /** Length of the witness. */
  readonly wires: number;
};

type Matrix = {
  /** Address of a zero, followed by the end of the entries of each row (u32, counted from the first entry of the first row). */
  readonly ends: number;
  readonly entries: number;
  /** Number of entries, including padding. */
  readonly length: number;
};

/** The dictionary is at `address`. */
export type Rows = Resident & {
  readonly wires: number;
  readonly a: Matrix;
  readonly b: Matrix;
};

/** Calls `work` for consecutive ranges of entries and yields to the event loop after each. */
async function forEachSlice(
  length: number,
  signal: AbortSignal | undefined,
  work: (start: number, end: number) => void,
): Promise<void> {
  for (const [start, count] of splitRange(length, slice)) {
    work(start, start + count);
    await yieldTurn(signal);
  }
}

async function checkRows(
  { matrix, row, wire, value, values, domainSize, wires }: RowsInput,
  signal: AbortSignal | undefined,
): Promise<void> {
  const refuse = (what: string): never => {
    throw new KernelsError('input_refused', `the matrices are not well-formed: ${what}`);
  };
  if (!Number.isInteger(Math.log2(domainSize)) || domainSize < 2 || domainSize > 2 ** 27) {
    refuse('the domain is not a power of two between 2 and 2^27');
  }
  const { length } = matrix;
  if (row.length !== length || wire.length !== length || value.length !== length) {
    refuse('the parts have different lengths');
  }
  if (values.length % scalarBytes !== 0) refuse('the dictionary is incomplete');
  const known = values.length / scalarBytes;
  await forEachSlice(length, signal, (start, end) => {
    for (let i = start; i < end; i += 1) {
      if ((matrix[i] ?? 2) > 1) refuse('a matrix is neither A nor B');
      if ((row[i] ?? domainSize) >= domainSize) refuse('a row is outside the domain');
      if ((wire[i] ?? wires) >= wires) refuse('a wire is outside the witness');
      if ((value[i] ?? known) >= known) refuse('a value is not in the dictionary');
    }
  });
}

/**
 * Sorts the entries by matrix and row, converts the dictionary, and keeps both.
 * @throws KernelsError `input_refused`, `out_of_memory`; the signal's reason
 */
export async function loadRows(
  { threads, memory }: Runtime,
  input: RowsInput,
  signal: AbortSignal | undefined,
): Promise<Rows> {
  await checkRows(input, signal);
  const { matrix, row, wire, value, values, domainSize, wires } = input;
  // Row i of matrix m has the number m·domainSize + i. The lengths are counted first, then the entries are placed.
  const places = new Uint32Array(2 * domainSize);
  await forEachSlice(matrix.length, signal, (start, end) => {
    for (let i = start; i < end; i += 1) {
      const place = (matrix[i] ?? 0) * domainSize + (row[i] ?? 0);
      places[place] = (places[place] ?? 0) + 1;
    }
  });
  const ends = [0, 1].map((which) => {
    const list = new Uint32Array(domainSize + 1);
    for (let i = 0; i < domainSize; i += 1) {
      const start = list[i] ?? 0;
      const length = places[which * domainSize + i] ?? 0;
      places[which * domainSize + i] = start;
      list[i + 1] = start + length + (length % 2);
    }
    return list;
  });
  const lengths = ends.map((list) => list[domainSize] ?? 0);
  const [lengthA = 0, lengthB = 0] = lengths;
  const dictionary = values.length / scalarBytes;
  const endBytes = 4 * (domainSize + 1);
  const valueBytes = elementBytes * (dictionary + 1);
  const block = memory.allocate(valueBytes + 8 * (lengthA + lengthB) + 2 * endBytes);
  const entriesA = block.address + valueBytes;
  const entriesB = entriesA + 8 * lengthA;
  const endsA = entriesB + 8 * lengthB;
  const endsB = endsA + endBytes;
  try {
    const words = (address: number, length: number) =>
      new Uint32Array(memory.view(address, 4 * length).buffer, address, length);
    const entryWords = 2 * (lengthA + lengthB);
    words(entriesA, entryWords).fill(0);
    await forEachSlice(matrix.length, signal, (start, end) => {
      const entries = words(entriesA, entryWords);
      for (let i = start; i < end; i += 1) {
        const which = matrix[i] ?? 0;
        const number = which * domainSize + (row[i] ?? 0);
        const place = places[number] ?? 0;
        places[number] = place + 1;
        const at = 2 * (which * lengthA + place);
        entries[at] = elementBytes * ((value[i] ?? 0) + 1);
        entries[at + 1] = elementBytes * (wire[i] ?? 0);
      }
    });
    ends.forEach((list, which) => {
      words(which === 0 ? endsA : endsB, list.length).set(list);
    });
    memory.view(block.address, elementBytes).fill(0);
    await withBlocks(memory, async (allocate) => {
      const bytes = allocate(values.length);
      memory.view(bytes.address, values.length).set(values);
      // The file contains value·2^512. Each of the two conversions removes one factor 2^256.
      const tasks = splitRange(dictionary, convertedPerTask).map(([start, count]) => {
        const from = bytes.address + scalarBytes * start;
        const to = block.address + elementBytes * (start + 1);
        return [
          ['r_fromMontgomery256', to, from, count] as const,
          ['r_toCanonical', from, to, count] as const,
          ['r_fromMontgomery256', to, from, count] as const,
        ];
      });
      await threads.run(tasks, { signal });
    });
  } catch (error) {
    block.release();
    throw error;
  }
  return placeRows(block, { count: domainSize, wires, lengths: [lengthA, lengthB] });
}

/** The matrices in a block that `loadRows` filled: dictionary, entries of A and of B, ends of A and of B. */
export function placeRows(
  block: Block,
  shape: {
    readonly count: number;
    readonly wires: number;
    readonly lengths: readonly [number, number];
  },
): Rows {
  const [lengthA, lengthB] = shape.lengths;
  const endBytes = 4 * (shape.count + 1);
  const endsB = block.address + block.bytes - endBytes;
  const endsA = endsB - endBytes;
  const entriesB = endsA - 8 * lengthB;
  return createResident(shape.count, block, {
    wires: shape.wires,
    a: { ends: endsA, entries: entriesB - 8 * lengthA, length: lengthA },
    b: { ends: endsB, entries: entriesB, length: lengthB },
  });
}
