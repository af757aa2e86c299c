/**
 * The kernels as callers see them: one memory, some threads, and the operations on both.
 *
 * @module
 */
import { availableParallelism, totalmem } from 'node:os';
import { createDomain, type Domain } from './domain.ts';
import { KernelsError } from './errors.ts';
import { multiplyGenerator } from './fixed-base.ts';
import type { Group } from './groups.ts';
import type { Block } from './memory.ts';
import { addressableBytes, createKernelMemory } from './memory.ts';
import { computeMsm } from './msm.ts';
import { multiplyPoints } from './multiples.ts';
import { loadPoints, type PointTable } from './points.ts';
import { computeQuotient } from './quotient.ts';
import { loadRows, type Rows, type RowsInput } from './rows.ts';
import type { Runtime, TaskOptions } from './runtime.ts';
import { loadScalars, type ScalarVector } from './scalars.ts';
import { createScanKernels, type ScanKernels } from './scan-kernels.ts';
import { createSetupKernels, type SetupKernels } from './setup-kernels.ts';
import { createThreads } from './threads.ts';
import { compileKernels, detectMultiplier, type Multiplier } from './wasm-module.ts';

/** The beginning of the memory, where each instance of the module writes the same constants. */
const reservedBytes = 65_536;

export type KernelsOptions = {
  /** Default: one for each processor that the process may use. */
  readonly threads?: number | undefined;
  /** Budget, at most 4 GiB. Default: 4 GiB, or three quarters of the machine's memory if that is less. */
  readonly maximumBytes?: number | undefined;
  /** 'float' needs relaxed SIMD and a processor with fused multiply-add; 'auto', the default, asks both. */
  readonly multiplier?: 'auto' | Multiplier | undefined;
};

type NotesAndKeys = ScanKernels & SetupKernels;

export type Kernels = NotesAndKeys & {
  readonly threads: number;
  readonly multiplier: Multiplier;
  /** For people: what the kernels run on. */
  readonly detail: string;
  /** Memory in use, of the budget. */
  readonly bytesInUse: number;
  /**
   * Copies scalars in: 32 bytes little-endian each, below r.
   * @throws KernelsError `input_refused`, `out_of_memory`
   */
  readonly loadScalars: (count: number, bytes: Uint8Array) => Promise<ScalarVector>;
  /** A copy of the scalars, 32 bytes little-endian each. @throws KernelsError `input_refused` once released */
  readonly readScalars: (scalars: ScalarVector) => Uint8Array;
  /**
   * Keeps the matrices A and B, and the tables of their domain.
   * @throws KernelsError `input_refused`, `out_of_memory`; the signal's reason
   */
  readonly loadRows: (rows: RowsInput, options?: TaskOptions) => Promise<Rows>;
  /**
   * (A·w)(x)·(B·w)(x) - C(x) for the n points x of the odd coset, C the polynomial through the products on the domain.
   * @param witness - w, one scalar a wire
   * @returns as many scalars as the domain has rows, secret; the caller releases them
   * @throws KernelsError `input_refused`, `out_of_memory`; the signal's reason
   */
  readonly computeQuotient: (
    rows: Rows,
    witness: ScalarVector,
    options?: TaskOptions,
  ) => Promise<ScalarVector>;
  /**
   * Reads points of a proving key chunk by chunk (`read` fills `into` with `count` of them from `start` on) and keeps them.
   * @throws KernelsError `input_refused`, `out_of_memory`; what `read` throws; the signal's reason
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
   * One scalar (32 bytes) times every point, or one each; points in the proving key's format, any on the curve.
   * @throws KernelsError `input_refused`, `out_of_memory`; the signal's reason
   */
  readonly multiplyPoints: (
    group: Group,
    points: Uint8Array,
    scalars: Uint8Array,
    options?: TaskOptions,
  ) => Promise<Uint8Array>;
  /**
   * Ends the threads, zeroes what is secret and was not released, and resolves then; operations under way and later ones fail with
   * `kernels_closed`.
   */
  readonly close: () => Promise<void>;
};

function describeRuntime(threads: number, multiplier: Multiplier): string {
  return `WebAssembly, ${threads} thread${threads === 1 ? '' : 's'}, ${multiplier === 'float' ? 'relaxed SIMD' : 'SIMD'}`;
}

/**
 * Compiles the kernels and starts the threads. They idle without keeping the process alive.
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
    threads: count = availableParallelism(),
    maximumBytes = Math.min(addressableBytes, 0.75 * totalmem()),
    multiplier: wanted = 'auto',
  } = options;
  const multiplier = wanted === 'auto' ? detectMultiplier() : wanted;
  const module = await compileKernels(multiplier);
  const memory = createKernelMemory(reservedBytes, maximumBytes);
  const threads = await createThreads(count, { module, memory: memory.memory });
  const runtime: Runtime = { threads, memory, multiplier };
  const domains = new Map<number, Promise<{ readonly domain: Domain; readonly block: Block }>>();

  /** The tables of a size are computed once and kept. */
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
    if (closed) throw new KernelsError('kernels_closed', 'these kernels were closed');
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
