/**
 * The curve arithmetic in bulk that a ceremony needs, as a port: millions of points go through it.
 *
 * @module
 */
import type { Group } from './points.ts';

export type BulkOptions = { readonly signal?: AbortSignal | undefined };

/** Points as key files carry them; scalars 32 bytes little-endian, below r. */
export type PointArithmetic = {
  /** scalars[i]·points[i]; a single scalar multiplies every point. The points lie on the curve, not necessarily in the subgroup. */
  readonly multiplyPoints: (
    group: Group,
    points: Uint8Array,
    scalars: Uint8Array,
    options?: BulkOptions,
  ) => Promise<Uint8Array>;
  /**
   * The sum of all scalars[i]·points[i], as one point. Scalars above half of r may be taken as negative ones modulo r, so the points
   * must belong to their group, unless all scalars are smaller.
   */
  readonly computeMsm: (
    group: Group,
    points: Uint8Array,
    scalars: Uint8Array,
    options?: BulkOptions,
  ) => Promise<Uint8Array>;
  /** Ends its threads. */
  readonly close: () => Promise<void>;
};
