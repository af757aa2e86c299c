/**
 * Many Poseidon hashes on all threads (kernel: codegen/poseidon.ts). The caller passes the constants. Every instance over BN254's
 * scalar field with x^5, 8 full rounds and a state of up to 7 words is supported.
 *
 * @module
 */

import { KernelsError } from '../runtime/errors.ts';
import { encodeIntegers, scalarFieldOrder } from '../runtime/integers.ts';
import type { Block } from '../runtime/memory.ts';
import {
  placePerThread,
  type Runtime,
  runTasks,
  splitPairs,
  type TaskOptions,
  withBlocks,
} from '../runtime/runtime.ts';

/** The constants of one width, with partial rounds in sparse form (eprint 2019/458, appendix B). Numbers in [0, r). */
export type PoseidonConstants = {
  /** Words of the state: the number of inputs + 1. */
  readonly width: number;
  readonly partialRounds: number;
  /** Added before the S-boxes of each of the 8 full rounds. */
  readonly fullConstants: readonly (readonly bigint[])[];
  /** Added to the first word in each partial round. */
  readonly partialConstants: readonly bigint[];
  readonly matrix: readonly (readonly bigint[])[];
  /** Replaces the matrix in the last full round before the partial rounds. */
  readonly transition: readonly (readonly bigint[])[];
  /** First row of each partial round's sparse matrix, without the corner. */
  readonly sparseRows: readonly (readonly bigint[])[];
  /** First column, without the corner. */
  readonly sparseColumns: readonly (readonly bigint[])[];
};

const numberBytes = 32;
/** Bytes of a number as the kernels store it. */
export const elementBytes = 40;
/** Bytes of two of them beside each other. */
export const pairBytes = 80;
const fullRounds = 8;
const maximumWidth = 7;
/** Pairs of hashes per task: about 4 ms for wide states. */
const pairsInTask = 64;

/** The constants in the kernel's order. @throws KernelsError `input_refused` */
export function listConstants(constants: PoseidonConstants): readonly bigint[] {
  const { width, partialRounds, sparseRows, sparseColumns } = constants;
  const list = [
    ...constants.fullConstants.flat(),
    ...constants.matrix.flat(),
    ...constants.transition.flat(),
    ...constants.partialConstants,
    ...sparseRows.flatMap((row, round) => [...row, ...(sparseColumns[round] ?? [])]),
  ];
  const wanted =
    fullRounds * width + 2 * width * width + partialRounds + 2 * partialRounds * (width - 1);
  const isField = (value: bigint) => value >= 0n && value < scalarFieldOrder;
  if (
    !Number.isInteger(width) ||
    width < 2 ||
    width > maximumWidth ||
    partialRounds < 1 ||
    list.length !== wanted ||
    !list.every(isField)
  ) {
    throw new KernelsError(
      'input_refused',
      'the constants of Poseidon must be complete, for 2 to 7 words, and below r',
    );
  }
  return list;
}

export type PoseidonHasher = {
  /**
   * Computes one hash for each `width - 1` inputs.
   * @param inputs - 32-byte little-endian numbers, concatenated; numbers that are not below r are reduced
   * @returns 32-byte little-endian numbers below r
   * @throws KernelsError `input_refused`, and the errors of a run
   */
  readonly hashPoseidonMany: (
    constants: PoseidonConstants,
    inputs: Uint8Array,
    options?: TaskOptions,
  ) => Promise<Uint8Array>;
};

/** Keeps the converted constants of every instance that was used: about 40 kB for the widest. */
export function createPoseidonHasher(runtime: Runtime): PoseidonHasher {
  const { memory, threads } = runtime;
  const tables = new WeakMap<PoseidonConstants, Promise<Block>>();

  const convert = async (constants: PoseidonConstants): Promise<Block> => {
    const list = listConstants(constants);
    const table = memory.allocate(list.length * elementBytes);
    try {
      await withBlocks(memory, async (allocate) => {
        const plain = allocate(list.length * numberBytes, { secret: true });
        encodeIntegers(list, memory.view(plain.address, plain.bytes));
        await threads.run([[['r_fromCanonical', table.address, plain.address, list.length]]]);
      });
    } catch (reason) {
      table.release();
      throw reason;
    }
    return table;
  };

  const load = (constants: PoseidonConstants): Promise<Block> => {
    const known = tables.get(constants);
    if (known !== undefined) return known;
    const table = convert(constants).catch((reason: unknown) => {
      // After a failure, the next call tries again.
      tables.delete(constants);
      throw reason;
    });
    tables.set(constants, table);
    return table;
  };

  const hashPoseidonMany: PoseidonHasher['hashPoseidonMany'] = async (
    constants,
    inputs,
    options = {},
  ) => {
    const { width, partialRounds } = constants;
    const inputBytes = (width - 1) * numberBytes;
    const count = inputs.length / inputBytes;
    if (!Number.isInteger(count)) {
      throw new KernelsError(
        'input_refused',
        'the inputs must be numbers of 32 bytes, width - 1 for each hash',
      );
    }
    options.signal?.throwIfAborted();
    const table = await load(constants);
    return withBlocks(memory, async (allocate) => {
      const even = count + (count % 2);
      const from = allocate(even * inputBytes, { secret: true });
      const to = allocate(even * numberBytes, { secret: true });
      const scratch = placePerThread(
        runtime,
        () => allocate(2 * width * pairBytes, { secret: true }).address,
      );
      const view = memory.view(from.address, from.bytes);
      view.fill(0);
      view.set(inputs);
      const tasks = splitPairs(count, pairsInTask).map(({ first, pairs }) => {
        const places = [
          to.address + first * numberBytes,
          from.address + first * inputBytes,
        ] as const;
        return (thread: number) => [
          [
            'poseidon_hash',
            ...places,
            pairs,
            table.address,
            width,
            partialRounds,
            scratch(thread),
          ] as const,
        ];
      });
      await runTasks(runtime, tasks, options);
      return memory.view(to.address, count * numberBytes).slice();
    });
  };
  return { hashPoseidonMany };
}
