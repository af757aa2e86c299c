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
import { addressableBytes, createKernelMemory, reservedBytes } from './runtime/memory.ts';
import { findBuiltin } from './runtime/module-beside.ts';
import type { Bound, Runtime } from './runtime/runtime.ts';
import { canShareMemory } from './runtime/thread-port.ts';
import { createThreads } from './runtime/threads.ts';
import {
  compileKernels,
  detectMultiplier,
  digestKernels,
  type Multiplier,
} from './runtime/wasm-module.ts';
import type { ScalarVector } from './scalars/scalars.ts';
import { combineScalars, computeLagrangeBasis, multiplyColumns } from './scalars/setup-scalars.ts';
import { multiplyPackedPoints, openSealedBoxes } from './scan/babyjubjub.ts';
import { createPoseidonHasher, type PoseidonHasher } from './scan/poseidon.ts';

export type KernelsOptions = {
  /**
   * Default: one for each processor that the process may use. In a page that is not cross-origin isolated there is one thread, the
   * calling one: threads cannot share memory there. Kernels for provers then have workers with memories of their own.
   */
  readonly threads?: number | undefined;
  /** Memory budget, at most 4 GiB. Default: 4 GiB, or three quarters of the machine's memory if that is less. */
  readonly maximumBytes?: number | undefined;
  /** `float` needs relaxed SIMD and a processor with fused multiply-add. `auto`, the default, tests for both. */
  readonly multiplier?: 'auto' | Multiplier | undefined;
};

/** The operations for reading sealed notes and for building trees: packed Baby Jubjub points, sealed boxes, Poseidon. */
export type ScanKernels = PoseidonHasher & {
  /** scalar · point for packed, untrusted points; see babyjubjub.ts. */
  readonly multiplyPackedPoints: Bound<typeof multiplyPackedPoints>;
  /** Opens the boxes that are sealed to scalar·B8, out of many. It takes about 500 bytes of memory per box. */
  readonly openSealedBoxes: Bound<typeof openSealedBoxes>;
};

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

export type Kernels = ScanKernels &
  ProvingKernels & {
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

/** A browser does not say how much memory the machine has. */
function findDefaultBudget(): number {
  const total = findBuiltin('node:os')?.totalmem() ?? Number.POSITIVE_INFINITY;
  return Math.min(addressableBytes, 0.75 * total);
}

/** Some browsers hide it. */
export function findProcessors(): number {
  const { hardwareConcurrency } = navigator as { readonly hardwareConcurrency?: number };
  return hardwareConcurrency ?? 1;
}

export function createScanKernels(runtime: Runtime): ScanKernels {
  return {
    ...createPoseidonHasher(runtime),
    multiplyPackedPoints: (...args) => multiplyPackedPoints(runtime, ...args),
    openSealedBoxes: (...args) => openSealedBoxes(runtime, ...args),
  };
}

/** The options with their defaults, and the compiled kernels. */
export async function prepareKernels(options: KernelsOptions, shared: boolean) {
  const {
    threads = findProcessors(),
    maximumBytes = findDefaultBudget(),
    multiplier: wanted = 'auto',
  } = options;
  const multiplier = wanted === 'auto' ? detectMultiplier() : wanted;
  const module = await compileKernels(multiplier, shared);
  return {
    ...{ threads, maximumBytes, multiplier, module },
    /** For people. */
    instructions: multiplier === 'float' ? 'relaxed SIMD' : 'SIMD',
    describeImageFormat: async () =>
      `${layoutVersion}-${multiplier}-${await digestKernels(multiplier)}`,
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
  const { module, multiplier, instructions, describeImageFormat } = prepared;
  const memory = createKernelMemory(reservedBytes, prepared.maximumBytes);
  const threads = await createThreads(prepared.threads, { module, memory: memory.memory });
  const { count } = threads;
  const isolation = canShareMemory() ? '' : ' (the page is not cross-origin isolated)';
  const runtime: Runtime = { threads, memory, multiplier };
  const proving = createProvingOperations(runtime);
  let closed = false;
  const requireOpen = (): void => {
    if (closed) throw new KernelsError('kernels_closed', 'the kernels are closed');
  };

  return {
    ...createScanKernels(runtime),
    ...proving,
    describeImageFormat,
    multiplyGenerator: (...args) => multiplyGenerator(runtime, ...args),
    multiplyPoints: (...args) => multiplyPoints(runtime, ...args),
    computeLagrangeBasis: (...args) => computeLagrangeBasis(runtime, ...args),
    multiplyColumns: (...args) => multiplyColumns(runtime, ...args),
    combineScalars: (...args) => combineScalars(runtime, ...args),
    threads: count,
    multiplier,
    detail: `WebAssembly, ${count} thread${count === 1 ? '' : 's'}${isolation}, ${instructions}`,
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
