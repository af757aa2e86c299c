/**
 * The operations of a Groth16 prover on one memory and its threads.
 *
 * @module
 */
import { computeJointMsm, computeMsm } from './curve/msm.ts';
import { loadPoints, type PointTable } from './curve/points.ts';
import { createImage, type Image, restoreImage } from './images.ts';
import type { Block } from './runtime/memory.ts';
import type { Bound, Runtime, TaskOptions } from './runtime/runtime.ts';
import { createDomain, type Domain } from './scalars/domain.ts';
import { computeQuotient } from './scalars/quotient.ts';
import { loadRows, type Rows, type RowsInput } from './scalars/rows.ts';
import { loadScalars, type ScalarVector } from './scalars/scalars.ts';

export type ProvingOperations = {
  /**
   * Copies scalars into the kernels' memory: 32 bytes little-endian each, below r.
   * @throws KernelsError `input_refused`, `out_of_memory`
   */
  readonly loadScalars: (count: number, bytes: Uint8Array) => Promise<ScalarVector>;
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
  /** The bytes of a table of points or of matrices, to keep them; see images.ts. */
  readonly createImage: (resident: PointTable | Rows) => Image;
  /** Takes up an image of the same format; see images.ts. */
  readonly restoreImage: Bound<typeof restoreImage>;
  /** The sum of scalars[firstScalar + i]·points[i] over a table; see msm.ts. */
  readonly computeMsm: Bound<typeof computeMsm>;
  /** The sum of two such sums, quicker than one after the other. */
  readonly computeJointMsm: Bound<typeof computeJointMsm>;
};

export function createProvingOperations(runtime: Runtime): ProvingOperations {
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

  return {
    loadPoints: (...args) => loadPoints(runtime, ...args),
    createImage: (resident) => createImage(runtime, resident),
    computeMsm: (...args) => computeMsm(runtime, ...args),
    computeJointMsm: (...args) => computeJointMsm(runtime, ...args),
    loadScalars: async (length, bytes) => loadScalars(runtime, length, bytes),
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
    computeQuotient: async (rows, witness, options = {}) =>
      computeQuotient(runtime, await ensureDomain(rows.count), rows, witness, options),
  };
}
