/**
 * Curve arithmetic on @pool/kernels: WebAssembly on all cores.
 *
 * @module
 */
import { createKernels, type KernelsOptions } from '@pool/kernels';
import type { PointArithmetic } from './point-arithmetic.ts';
import { pointBytes } from './points.ts';

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
      const size = pointBytes[group];
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
