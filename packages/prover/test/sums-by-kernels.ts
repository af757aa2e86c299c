/** The same sum as computeOnDevice, by the kernels of the processor: an independent result. */
import { encodeIntegers, type Kernels } from '@pool/kernels';
import { decodeG1, decodeG2 } from '../src/base/points.ts';
import { readFrom } from './msm-on-device.ts';
import { encodePoints } from './msm-points.ts';

export async function computeByKernels(
  kernels: Kernels,
  group: 'g1' | 'g2',
  {
    factors,
    scalars,
  }: { readonly factors: readonly number[]; readonly scalars: readonly bigint[] },
) {
  const bytes = encodePoints(group, factors);
  const read = readFrom(bytes, group === 'g1' ? 64 : 128);
  const points = await kernels.loadPoints(group, factors.length, read);
  const vector = await kernels.loadScalars(scalars.length, encodeIntegers(scalars));
  try {
    const sum = await kernels.computeMsm(points, vector);
    return group === 'g1' ? decodeG1(sum) : decodeG2(sum);
  } finally {
    points.release();
    vector.release();
  }
}
