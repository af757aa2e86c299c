/**
 * The data that the transforms of one size keep: two tables of twiddle factors, together 80 bytes per row of the domain.
 * codegen/ntt.ts describes their contents and how the transforms are cut into rows.
 *
 * @module
 */

import { bn254 } from '@noble/curves/bn254.js';
import { computeRootOfUnity, encodeIntegers, scalarBytes } from '../runtime/integers.ts';
import type { Block } from '../runtime/memory.ts';
import { type Runtime, splitRange, withBlocks } from '../runtime/runtime.ts';
import type { KernelTask } from '../runtime/threads.ts';

const { Fr } = bn254.fields;

/** Bytes of two field elements, interleaved by lane. */
export const pairBytes = 80;
/**
 * Maximum number of pairs in a row of the matrix. With both tables a row takes 120 kB, which fits into the second-level cache.
 */
const pairsPerRow = 512;
/** Padding between two rows. Without it, the entries of a column would map to the same few sets of every cache. */
const gapBytes = 128;

export type Domain = {
  /** n, a power of two, 2 … 2^27. */
  readonly size: number;
  /** n/2 pairs, arranged as a matrix. */
  readonly rows: number;
  readonly rowPairs: number;
  /** Distance from one row to the next, in vectors and in tables. */
  readonly rowBytes: number;
  /** Bytes of a vector of n elements. */
  readonly vectorBytes: number;
  readonly inverseTable: number;
  readonly forwardTable: number;
  /** Address of a pair that has 1/n in both lanes. */
  readonly inverseSize: number;
};

/** A piece of a table: its first entries are `first` and `second`, and each pair is `factor` times the previous one. */
type Piece = {
  readonly pair: number;
  readonly pairs: number;
  readonly numbers: readonly [first: bigint, second: bigint, factor: bigint];
};

/** Entries start·step^j for j = 0 … h-1, from pair h/2 on. */
function describeStage(h: number, start: bigint, step: bigint): Piece[] {
  return splitRange(h / 2, pairsPerRow).map(([from, pairs]) => {
    const first = Fr.mul(start, Fr.pow(step, BigInt(2 * from)));
    return {
      pair: h / 2 + from,
      pairs,
      numbers: [first, Fr.mul(first, step), Fr.sqr(step)],
    };
  });
}

function describeTables(logSize: number): { inverse: Piece[]; forward: Piece[] } {
  const fourth = computeRootOfUnity(2);
  const inverse: Piece[] = [{ pair: 0, pairs: 1, numbers: [1n, 1n, 1n] }];
  const forward: Piece[] = [{ pair: 0, pairs: 1, numbers: [fourth, fourth, 1n] }];
  for (let k = 1; k < logSize; k += 1) {
    const h = 2 ** k;
    inverse.push(...describeStage(h, 1n, Fr.inv(computeRootOfUnity(k + 1))));
    forward.push(...describeStage(h, computeRootOfUnity(k + 2), computeRootOfUnity(k + 1)));
  }
  return { inverse, forward };
}

/**
 * Computes the tables for a domain of 2^logSize rows. They stay until the block is released.
 * @throws KernelsError `out_of_memory`, `thread_died`, `kernels_closed`
 */
export async function createDomain(
  { threads, memory }: Runtime,
  logSize: number,
): Promise<{ readonly domain: Domain; readonly block: Block }> {
  const size = 2 ** logSize;
  const rowPairs = Math.min(size / 2, pairsPerRow);
  const rows = size / 2 / rowPairs;
  const rowBytes = rowPairs * pairBytes + (rows > 1 ? gapBytes : 0);
  // The transforms process two pairs at a time, even if there is only one.
  const vectorBytes = Math.max(rows * rowBytes, 2 * pairBytes);
  const tableBytes = rows * rowBytes;
  const block = memory.allocate(2 * tableBytes + pairBytes);
  const inverseTable = block.address;
  const forwardTable = inverseTable + tableBytes;
  const inverseSize = forwardTable + tableBytes;
  const { inverse, forward } = describeTables(logSize);
  const one = Fr.inv(BigInt(size));
  const pieces = [
    ...inverse.map((piece) => ({ ...piece, to: inverseTable })),
    ...forward.map((piece) => ({ ...piece, to: forwardTable })),
    { pair: 0, pairs: 1, numbers: [one, one, 1n] as const, to: inverseSize },
  ];
  const placeOf = (pair: number): number =>
    Math.floor(pair / rowPairs) * rowBytes + (pair % rowPairs) * pairBytes;
  try {
    await withBlocks(memory, async (allocate) => {
      const numberBytes = 3 * scalarBytes;
      const numbers = allocate(pieces.length * numberBytes);
      encodeIntegers(
        pieces.flatMap((piece) => [...piece.numbers]),
        memory.view(numbers.address, numbers.bytes),
      );
      const tasks = pieces.map(
        ({ to, pair, pairs }, index): KernelTask => [
          ['ntt_powers', to + placeOf(pair), numbers.address + index * numberBytes, pairs],
        ],
      );
      await threads.run(tasks);
    });
  } catch (error) {
    block.release();
    throw error;
  }
  return {
    domain: {
      size,
      rows,
      rowPairs,
      rowBytes,
      vectorBytes,
      inverseTable,
      forwardTable,
      inverseSize,
    },
    block,
  };
}
