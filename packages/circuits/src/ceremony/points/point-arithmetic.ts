/**
 * The bulk curve arithmetic of a ceremony, which processes millions of points: an interface, and its implementation on
 * @pool/kernels, WebAssembly on all cores.
 *
 * @module
 */
import { createKernels, type Group, type KernelsOptions, zkeyPointBytes } from '@pool/kernels';

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

/**
 * Starts its threads; `close` ends them.
 * @throws KernelsError `start_failed`
 */
export async function createKernelArithmetic(
  options: KernelsOptions = {},
): Promise<PointArithmetic> {
  const kernels = await createKernels(options);
  return {
    multiplyPoints: (group, points, scalars, bulk) =>
      kernels.multiplyPoints(group, points, scalars, bulk),
    computeMsm: async (group, points, scalars, bulk) => {
      const size = zkeyPointBytes[group];
      const count = points.length / size;
      if (count === 0) {
        return new Uint8Array(size);
      }
      const table = await kernels.loadPoints(
        group,
        count,
        async (start, length, into) => {
          into.set(points.subarray(start * size, (start + length) * size));
        },
        bulk,
      );
      try {
        const vector = await kernels.loadScalars(count, scalars);
        try {
          return await kernels.computeMsm(table, vector, bulk);
        } finally {
          vector.release();
        }
      } finally {
        table.release();
      }
    },
    close: () => kernels.close(),
  };
}
