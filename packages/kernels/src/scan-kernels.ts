/**
 * What the kernels offer for reading sealed notes and building trees: packed Baby Jubjub points, sealed boxes, Poseidon.
 *
 * @module
 */
import { multiplyPackedPoints, type PackedProducts } from './babyjubjub.ts';
import { createPoseidonHasher, type PoseidonHasher } from './poseidon.ts';
import type { Runtime, TaskOptions } from './runtime.ts';
import { type OpenedBoxes, openSealedBoxes, type SealedBoxes } from './scan.ts';

export type ScanKernels = PoseidonHasher & {
  /** scalar · point for packed, untrusted points; see babyjubjub.ts. */
  readonly multiplyPackedPoints: (
    points: Uint8Array,
    scalar: Uint8Array,
    options?: TaskOptions,
  ) => Promise<PackedProducts>;
  /** Opens those of many boxes that are sealed to scalar·B8; see scan.ts. Takes some 500 bytes of memory a box. */
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
