/**
 * The kernels as callers use them: one memory, its threads, and the operations.
 *
 * @module
 */
import { multiplyGenerator } from './curve/fixed-base.ts';
import type { Group } from './curve/groups.ts';
import { computeMsm } from './curve/msm.ts';
import { multiplyPoints } from './curve/multiples.ts';
import { loadPoints, type PointTable } from './curve/points.ts';
import { KernelsError } from './runtime/errors.ts';
import type { Block } from './runtime/memory.ts';
import { addressableBytes, createKernelMemory } from './runtime/memory.ts';
import { findBuiltin } from './runtime/node-builtin.ts';
import type { Runtime, TaskOptions } from './runtime/runtime.ts';
import { createThreads } from './runtime/threads.ts';
import { compileKernels, detectMultiplier, type Multiplier } from './runtime/wasm-module.ts';
import { createDomain, type Domain } from './scalars/domain.ts';
import { computeQuotient } from './scalars/quotient.ts';
import { loadRows, type Rows, type RowsInput } from './scalars/rows.ts';
import { loadScalars, type ScalarVector } from './scalars/scalars.ts';
import { createScanKernels, type ScanKernels } from './scan/scan-kernels.ts';
import { createSetupKernels, type SetupKernels } from './setup-kernels.ts';

/** The start of the memory. Every instance of the module writes the same constants there. */
const reservedBytes = 65_536;

export type KernelsOptions = {
  /** Default: one for each processor that the process may use. */
  readonly threads?: number | undefined;
  /** Memory budget, at most 4 GiB. Default: 4 GiB, or three quarters of the machine's memory if that is less. */
  readonly maximumBytes?: number | undefined;
  /** `float` needs relaxed SIMD and a processor with fused multiply-add. `auto`, the default, tests for both. */
  readonly multiplier?: 'auto' | Multiplier | undefined;
};

type NotesAndKeys = ScanKernels & SetupKernels;

export type Kernels = NotesAndKeys & {
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
  /**
   * Reads points of a proving key in chunks and keeps them. `read` writes `count` points, starting with number `start`, to
   * `into`.
   * @throws KernelsError `input_refused`, `out_of_memory`; errors of `read`; the signal's reason
   */
  readonly loadPoints: (
    group: Group,
    count: number,
    read: (start: number, count: number, into: Uint8Array) => Promise<void>,
    options?: TaskOptions,
  ) => Promise<PointTable>;
  /**
   * The sum of scalars[firstScalar + i]·points[i] over the table.
   * @returns one affine point in the proving key's format (64 or 128 bytes), zeros for infinity
   * @throws KernelsError `input_refused`, `out_of_memory`; the signal's reason
   */
  readonly computeMsm: (
    points: PointTable,
    scalars: ScalarVector,
    options?: TaskOptions & { readonly firstScalar?: number | undefined },
  ) => Promise<Uint8Array>;
  /**
   * scalars[i] times the generator, points in the proving key's format. Scalars: secret, 32 bytes little-endian each.
   * @throws KernelsError `input_refused`, `out_of_memory`; the signal's reason
   */
  readonly multiplyGenerator: (
    group: Group,
    scalars: Uint8Array,
    options?: TaskOptions,
  ) => Promise<Uint8Array>;
  /**
   * Multiplies every point by one scalar (32 bytes), or each point by its own. Points are in the proving key's format and may be
   * any points on the curve.
   * @throws KernelsError `input_refused`, `out_of_memory`; the signal's reason
   */
  readonly multiplyPoints: (
    group: Group,
    points: Uint8Array,
    scalars: Uint8Array,
    options?: TaskOptions,
  ) => Promise<Uint8Array>;
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

function describeRuntime(threads: number, multiplier: Multiplier): string {
  return `WebAssembly, ${threads} thread${threads === 1 ? '' : 's'}, ${multiplier === 'float' ? 'relaxed SIMD' : 'SIMD'}`;
}

/**
 * Compiles the kernels and starts the threads. Idle threads do not keep the process alive.
 *
 * @example
 * const kernels = await createKernels({ threads: 2 });
 * const points = await kernels.multiplyGenerator('g1', scalars); // 32 bytes little-endian each, below r
 * await kernels.close();
 *
 * @throws KernelsError `start_failed`
 */
export async function createKernels(options: KernelsOptions = {}): Promise<Kernels> {
  const {
    threads: count = navigator.hardwareConcurrency,
    maximumBytes = findDefaultBudget(),
    multiplier: wanted = 'auto',
  } = options;
  const multiplier = wanted === 'auto' ? detectMultiplier() : wanted;
  const module = await compileKernels(multiplier);
  const memory = createKernelMemory(reservedBytes, maximumBytes);
  const threads = await createThreads(count, { module, memory: memory.memory });
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
    ...createSetupKernels(runtime),
    threads: count,
    multiplier,
    detail: describeRuntime(count, multiplier),
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
    computeQuotient: async (rows, witness, taskOptions = {}) =>
      computeQuotient(runtime, await ensureDomain(rows.count), rows, witness, taskOptions),
    loadPoints: (group, length, read, taskOptions) =>
      loadPoints(runtime, group, length, read, taskOptions),
    computeMsm: (points, scalars, taskOptions) => computeMsm(runtime, points, scalars, taskOptions),
    multiplyGenerator: (group, scalars, taskOptions) =>
      multiplyGenerator(runtime, group, scalars, taskOptions),
    multiplyPoints: (group, points, scalars, taskOptions) =>
      multiplyPoints(runtime, group, points, scalars, taskOptions),
    close: async () => {
      closed = true;
      await threads.close();
      memory.wipe();
    },
  };
}
