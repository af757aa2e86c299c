/**
 * The bulk curve arithmetic of a ceremony, as an interface: it processes millions of points.
 *
 * @module
 */
import type { Group } from './points.ts';

export type BulkOptions = { readonly signal?: AbortSignal | undefined };

/** Points are in the encoding of key files; scalars are 32 bytes little-endian, below r. */
export type PointArithmetic = {
  /**
   * scalars[i]·points[i]. A single scalar multiplies every point. The points must be on the curve, but not necessarily in the
   * subgroup.
   */
  readonly multiplyPoints: (
    group: Group,
    points: Uint8Array,
    scalars: Uint8Array,
    options?: BulkOptions,
  ) => Promise<Uint8Array>;
  /**
   * The sum of all scalars[i]·points[i], as one point. An implementation may treat scalars above half of r as negative ones
   * modulo r. The points must therefore belong to their group, unless all scalars are smaller.
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
