/**
 * The operations for reading sealed notes and for building trees: packed Baby Jubjub points, sealed boxes, Poseidon.
 *
 * @module
 */

import type { Runtime, TaskOptions } from '../runtime/runtime.ts';
import { multiplyPackedPoints, type PackedProducts } from './babyjubjub.ts';
import { createPoseidonHasher, type PoseidonHasher } from './poseidon.ts';
import { type OpenedBoxes, openSealedBoxes, type SealedBoxes } from './scan.ts';

export type ScanKernels = PoseidonHasher & {
  /** scalar · point for packed, untrusted points; see babyjubjub.ts. */
  readonly multiplyPackedPoints: (
    points: Uint8Array,
    scalar: Uint8Array,
    options?: TaskOptions,
  ) => Promise<PackedProducts>;
  /** Opens the boxes that are sealed to scalar·B8, out of many; see scan.ts. It takes about 500 bytes of memory per box. */
  readonly openSealedBoxes: (
    input: SealedBoxes,
    scalar: Uint8Array,
    options?: TaskOptions,
  ) => Promise<OpenedBoxes>;
};

export function createScanKernels(runtime: Runtime): ScanKernels {
  return {
    ...createPoseidonHasher(runtime),
    multiplyPackedPoints: (points, scalar, options) =>
      multiplyPackedPoints(runtime, points, scalar, options),
    openSealedBoxes: (input, scalar, options) => openSealedBoxes(runtime, input, scalar, options),
  };
}
