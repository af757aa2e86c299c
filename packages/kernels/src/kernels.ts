/**
 * The kernels as callers use them: one memory, its threads, and the operations.
 *
 * @module
 */
import { multiplyGenerator } from './curve/fixed-base.ts';
import { computeJointMsm, computeMsm } from './curve/msm.ts';
import { multiplyPoints } from './curve/multiples.ts';
import { loadPoints, type PointTable } from './curve/points.ts';
import { createImage, describeImageFormat, type Image, restoreImage } from './images.ts';
import { KernelsError } from './runtime/errors.ts';
import { addressableBytes, type Block, createKernelMemory } from './runtime/memory.ts';
import { findBuiltin } from './runtime/module-beside.ts';
import type { Runtime, TaskOptions } from './runtime/runtime.ts';
import { canShareMemory } from './runtime/thread-port.ts';
import { createThreads } from './runtime/threads.ts';
import { compileKernels, detectMultiplier, type Multiplier } from './runtime/wasm-module.ts';
import { createDomain, type Domain } from './scalars/domain.ts';
import { computeQuotient } from './scalars/quotient.ts';
import { loadRows, type Rows, type RowsInput } from './scalars/rows.ts';
import { loadScalars, type ScalarVector } from './scalars/scalars.ts';
import { combineScalars, computeLagrangeBasis, multiplyColumns } from './scalars/setup-scalars.ts';
import { multiplyPackedPoints, openSealedBoxes } from './scan/babyjubjub.ts';
import { createPoseidonHasher, type PoseidonHasher } from './scan/poseidon.ts';

/** The start of the memory. Every instance of the module writes the same constants there. */
const reservedBytes = 65_536;

export type KernelsOptions = {
  /**
   * Default: one for each processor that the process may use. In a page that is not cross-origin isolated there is one thread, the
   * calling one: threads cannot share memory there.
   */
  readonly threads?: number | undefined;
  /** Memory budget, at most 4 GiB. Default: 4 GiB, or three quarters of the machine's memory if that is less. */
  readonly maximumBytes?: number | undefined;
  /** `float` needs relaxed SIMD and a processor with fused multiply-add. `auto`, the default, tests for both. */
  readonly multiplier?: 'auto' | Multiplier | undefined;
};

/** An operation as a caller sees it: on the kernels' own memory and threads. */
type Bound<F> = F extends (runtime: Runtime, ...rest: infer Args) => infer Result
  ? (...args: Args) => Result
  : never;

/** The operations for reading sealed notes and for building trees: packed Baby Jubjub points, sealed boxes, Poseidon. */
export type ScanKernels = PoseidonHasher & {
  /** scalar · point for packed, untrusted points; see babyjubjub.ts. */
  readonly multiplyPackedPoints: Bound<typeof multiplyPackedPoints>;
  /** Opens the boxes that are sealed to scalar·B8, out of many. It takes about 500 bytes of memory per box. */
  readonly openSealedBoxes: Bound<typeof openSealedBoxes>;
};

export type Kernels = ScanKernels & {
  readonly threads: number;
  readonly multiplier: Multiplier;
  /** Description of what the kernels run on, for people. */
  readonly detail: string;
  /** Memory in use, in bytes; part of the budget. */
  readonly bytesInUse: number;
  /**
   * Copies scalars into the kernels' memory: 32 bytes little-endian each, below r.
   * @throws KernelsError `input_refused`, `out_of_memory`
   */
  readonly loadScalars: (count: number, bytes: Uint8Array) => Promise<ScalarVector>;
  /** A copy of the scalars, 32 bytes little-endian each. @throws KernelsError `input_refused` after their release */
  readonly readScalars: (scalars: ScalarVector) => Uint8Array;
  /**
   * Keeps the matrices A and B in memory, and the tables of their domain.
   * @throws KernelsError `input_refused`, `out_of_memory`; the signal's reason
   */
  readonly loadRows: (rows: RowsInput, options?: TaskOptions) => Promise<Rows>;
  /**
   * (A·w)(x)·(B·w)(x) - C(x) for the n points x of the odd coset. C is the polynomial through the products on the domain.
   * @param witness - w, one scalar per wire
   * @returns one scalar per row of the domain, secret; the caller releases them
   * @throws KernelsError `input_refused`, `out_of_memory`; the signal's reason
   */
  readonly computeQuotient: (
    rows: Rows,
    witness: ScalarVector,
    options?: TaskOptions,
  ) => Promise<ScalarVector>;
  /** Keeps points of a proving key; see points.ts. */
  readonly loadPoints: Bound<typeof loadPoints>;
  /** Names the format of images; kernels of another format cannot restore them. */
  readonly describeImageFormat: () => Promise<string>;
  /** The bytes of a table of points or of matrices, to keep them; see images.ts. */
  readonly createImage: (resident: PointTable | Rows) => Image;
  /** Takes up an image of the same format; see images.ts. */
  readonly restoreImage: Bound<typeof restoreImage>;
  /** The sum of scalars[firstScalar + i]·points[i] over a table; see msm.ts. */
  readonly computeMsm: Bound<typeof computeMsm>;
  /** The sum of two such sums, quicker than each alone. */
  readonly computeJointMsm: Bound<typeof computeJointMsm>;
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
  /**
   * Ends the threads and zeroes secrets that were not released, then resolves. Running and later operations fail with
   * `kernels_closed`.
   */
  readonly close: () => Promise<void>;
};

/** A browser does not say how much memory the machine has. */
function findDefaultBudget(): number {
  const total = findBuiltin('node:os')?.totalmem() ?? Number.POSITIVE_INFINITY;
  return Math.min(addressableBytes, 0.75 * total);
}

/** Some browsers hide it. */
function findProcessors(): number {
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

function describeRuntime(threads: number, multiplier: Multiplier): string {
  const isolation = canShareMemory() ? '' : ' (the page is not cross-origin isolated)';
  return `WebAssembly, ${threads} thread${threads === 1 ? '' : 's'}${isolation}, ${multiplier === 'float' ? 'relaxed SIMD' : 'SIMD'}`;
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
  const {
    threads: wantedThreads = findProcessors(),
    maximumBytes = findDefaultBudget(),
    multiplier: wanted = 'auto',
  } = options;
  const multiplier = wanted === 'auto' ? detectMultiplier() : wanted;
  const module = await compileKernels(multiplier);
  const memory = createKernelMemory(reservedBytes, maximumBytes);
  const threads = await createThreads(wantedThreads, { module, memory: memory.memory });
  const runtime: Runtime = { threads, memory, multiplier };
  const domains = new Map<number, Promise<{ readonly domain: Domain; readonly block: Block }>>();

  /** The tables of each size are computed once and kept. */
  const ensureDomain = async (size: number): Promise<Domain> => {
    const known = domains.get(size) ?? createDomain(runtime, Math.log2(size));
    domains.set(size, known);
    try {
      return (await known).domain;
    } catch (error) {
      domains.delete(size);
      throw error;
    }
  };

  let closed = false;
  const requireOpen = (): void => {
    if (closed) throw new KernelsError('kernels_closed', 'the kernels are closed');
  };

  return {
    ...createScanKernels(runtime),
    loadPoints: (...args) => loadPoints(runtime, ...args),
    describeImageFormat: () => describeImageFormat(multiplier),
    createImage: (resident) => createImage(runtime, resident),
    computeMsm: (...args) => computeMsm(runtime, ...args),
    computeJointMsm: (...args) => computeJointMsm(runtime, ...args),
    multiplyGenerator: (...args) => multiplyGenerator(runtime, ...args),
    multiplyPoints: (...args) => multiplyPoints(runtime, ...args),
    computeLagrangeBasis: (...args) => computeLagrangeBasis(runtime, ...args),
    multiplyColumns: (...args) => multiplyColumns(runtime, ...args),
    combineScalars: (...args) => combineScalars(runtime, ...args),
    threads: threads.count,
    multiplier,
    detail: describeRuntime(threads.count, multiplier),
    get bytesInUse() {
      return memory.bytesInUse;
    },
    loadScalars: async (length, bytes) => {
      requireOpen();
      return loadScalars(runtime, length, bytes);
    },
    readScalars: ({ address, bytes }) => {
      requireOpen();
      return memory.view(address, bytes).slice();
    },
    loadRows: async (input, { signal, onProgress } = {}) => {
      const rows = await loadRows(runtime, input, signal);
      try {
        await ensureDomain(input.domainSize);
      } catch (error) {
        rows.release();
        throw error;
      }
      onProgress?.(1);
      return rows;
    },
    restoreImage: async (...args) => {
      const restored = await restoreImage(runtime, ...args);
      try {
        if (!('group' in restored)) await ensureDomain(restored.count);
        return restored;
      } catch (error) {
        restored.release();
        throw error;
      }
    },
    computeQuotient: async (rows, witness, taskOptions = {}) =>
      computeQuotient(runtime, await ensureDomain(rows.count), rows, witness, taskOptions),
    close: async () => {
      closed = true;
      await threads.close();
      memory.wipe();
    },
  };
}
