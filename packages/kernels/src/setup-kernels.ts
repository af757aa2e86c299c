/**
 * The operations for making keys, in addition to multiples of generators: the scalars of a key from constraints and a trapdoor.
 *
 * @module
 */

import type { Runtime, TaskOptions } from './runtime/runtime.ts';
import { multiplyColumns, type SparseMatrix } from './scalars/column-sums.ts';
import { combineScalars, type ScaledScalars } from './scalars/combine-scalars.ts';
import { computeLagrangeBasis, type LagrangeBasis } from './scalars/lagrange-basis.ts';

/**
 * Scalars are 32 bytes little-endian each, below r. All operations throw KernelsError `input_refused`, `out_of_memory`, or the
 * signal's reason.
 */
export type SetupKernels = {
  /** The Lagrange basis over roots of unity at a point; see lagrange-basis.ts. */
  readonly computeLagrangeBasis: (
    basis: LagrangeBasis,
    options?: TaskOptions,
  ) => Promise<Uint8Array>;
  /** The transpose of a sparse matrix times a vector; see column-sums.ts. */
  readonly multiplyColumns: (
    matrix: SparseMatrix,
    weights: Uint8Array,
    options?: TaskOptions,
  ) => Promise<Uint8Array>;
  /** A linear combination of vectors; see combine-scalars.ts. */
  readonly combineScalars: (
    terms: readonly ScaledScalars[],
    options?: TaskOptions,
  ) => Promise<Uint8Array>;
};

export function createSetupKernels(runtime: Runtime): SetupKernels {
  return {
    computeLagrangeBasis: (basis, options) => computeLagrangeBasis(runtime, basis, options),
    multiplyColumns: (matrix, weights, options) =>
      multiplyColumns(runtime, matrix, weights, options),
    combineScalars: (terms, options) => combineScalars(runtime, terms, options),
  };
}
