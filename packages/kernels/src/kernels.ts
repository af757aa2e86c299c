/**
 * The kernels as callers use them: one memory, its threads, and the operations.
 *
 * @module
 */
import { multiplyGenerator } from './curve/fixed-base.ts';
import { multiplyPoints } from './curve/multiples.ts';
import { layoutVersion } from './images.ts';
import { createProvingOperations, type ProvingOperations } from './proving-operations.ts';
import { KernelsError } from './runtime/errors.ts';
import { completeOptions, describeKernels, type KernelsOptions } from './runtime/kernel-options.ts';
import { createKernelMemory, reservedBytes } from './runtime/memory.ts';
import type { Bound, Runtime } from './runtime/runtime.ts';
import { canShareMemory } from './runtime/thread-port.ts';
import { createThreads } from './runtime/threads.ts';
import {
  compileKernels,
  digestProvingKernels,
  type Multiplier,
  provingSet,
} from './runtime/wasm-module.ts';
import type { ScalarVector } from './scalars/scalars.ts';
import { combineScalars, computeLagrangeBasis, multiplyColumns } from './scalars/setup-scalars.ts';

/** What a prover takes from kernels. */
export type ProvingKernels = ProvingOperations & {
  /** Description of what the kernels run on, for people. */
  readonly detail: string;
  readonly threads: number;
  /** Names the format of images; kernels of another format cannot restore them. */
  readonly describeImageFormat: () => Promise<string>;
  /** Whether operations wait in a queue. Then they are given all at once: each worker begins its part of the next one by itself. */
  readonly isQueue?: true;
  /** Whether everything that was loaded is lost, and every further operation fails. Create new kernels then. */
  readonly isLost?: () => boolean;
  /**
   * Ends the threads and zeroes secrets that were not released, then resolves. Running and later operations fail with
   * `kernels_closed`.
   */
  readonly close: () => Promise<void>;
};

export type Kernels = ProvingKernels & {
  readonly multiplier: Multiplier;
  /** Memory in use, in bytes; part of the budget. */
  readonly bytesInUse: number;
  /** A copy of the scalars, 32 bytes little-endian each. @throws KernelsError `input_refused` after their release */
  readonly readScalars: (scalars: ScalarVector) => Uint8Array;
  /** scalars[i] times the generator, points in the proving key's format; see fixed-base.ts. */
  readonly multiplyGenerator: Bound<typeof multiplyGenerator>;
  /** Multiplies every point by one scalar, or each point by its own; see multiples.ts. */
  readonly multiplyPoints: Bound<typeof multiplyPoints>;
  /** The Lagrange basis over roots of unity at a point. */
  readonly computeLagrangeBasis: Bound<typeof computeLagrangeBasis>;
  /** The transpose of a sparse matrix times a vector. */
  readonly multiplyColumns: Bound<typeof multiplyColumns>;
  /** A linear combination of vectors. */
  readonly combineScalars: Bound<typeof combineScalars>;
};

/** The options with their defaults, and the compiled kernels of a prover. */
export async function prepareKernels(options: KernelsOptions, shared: boolean) {
  const { threads, maximumBytes, multiplier } = completeOptions(options);
  const module = await compileKernels(provingSet, multiplier, shared);
  return {
    ...{ threads, maximumBytes, multiplier, module },
    describeImageFormat: async () =>
      `${layoutVersion}-${multiplier}-${await digestProvingKernels(multiplier)}`,
  };
}

/**
 * Compiles the kernels and starts the threads. Idle threads do not keep the process alive.
 *
 * @example
 * const kernels = await createKernels({ threads: 2 });
 * const points = await kernels.multiplyGenerator('g1', scalars); // 32 bytes little-endian each, below r
 * await kernels.close();
 *
 * @throws KernelsError `start_failed`, `thread_file_missing`
 */
export async function createKernels(options: KernelsOptions = {}): Promise<Kernels> {
  const prepared = await prepareKernels(options, canShareMemory());
  const { module, multiplier, describeImageFormat } = prepared;
  const memory = createKernelMemory(reservedBytes, prepared.maximumBytes);
  const threads = await createThreads(prepared.threads, { module, memory: memory.memory });
  const { count } = threads;
  const runtime: Runtime = { threads, memory, multiplier };
  const proving = createProvingOperations(runtime);
  let closed = false;
  const requireOpen = (): void => {
    if (closed) throw new KernelsError('kernels_closed', 'the kernels are closed');
  };

  return {
    ...proving,
    describeImageFormat,
    multiplyGenerator: (...args) => multiplyGenerator(runtime, ...args),
    multiplyPoints: (...args) => multiplyPoints(runtime, ...args),
    computeLagrangeBasis: (...args) => computeLagrangeBasis(runtime, ...args),
    multiplyColumns: (...args) => multiplyColumns(runtime, ...args),
    combineScalars: (...args) => combineScalars(runtime, ...args),
    threads: count,
    multiplier,
    detail: describeKernels(count, multiplier),
    get bytesInUse() {
      return memory.bytesInUse;
    },
    loadScalars: async (length, bytes) => {
      requireOpen();
      return proving.loadScalars(length, bytes);
    },
    readScalars: ({ address, bytes }) => {
      requireOpen();
      return memory.view(address, bytes).slice();
    },
    close: async () => {
      closed = true;
      await threads.close();
      memory.wipe();
    },
  };
}
