/** One sum on a device, from factors and scalars to the point, for tests. */
import { encodeIntegers } from '@pool/kernels';
import {
  createG1Msm,
  createG2Msm,
  type MsmContext,
  type MsmOptions,
} from '../src/webgpu/msm/msm.ts';
import type { MsmTuning } from '../src/webgpu/msm/msm-plan.ts';
import { encodePoints } from './msm-points.ts';

/** Segments so short that every bucket is split. */
export const tinySegments = { least: 1, most: 2, wanted: 1 };

export function readFrom(bytes: Uint8Array, size: number): MsmOptions['read'] {
  return (start, count, into) => {
    into.set(bytes.subarray(start * size, (start + count) * size));
    return Promise.resolve();
  };
}

export async function computeOnDevice(
  context: MsmContext,
  group: 'g1' | 'g2',
  {
    factors,
    scalars,
  }: { readonly factors: readonly number[]; readonly scalars: readonly bigint[] },
  tuning: MsmTuning = {},
) {
  const bytes = encodePoints(group, factors);
  const size = group === 'g1' ? 64 : 128;
  const options = { count: factors.length, read: readFrom(bytes, size), tuning };
  const msm = await (group === 'g1'
    ? createG1Msm(context, options)
    : createG2Msm(context, options));
  const onDevice = context.buffers.upload(encodeIntegers(scalars));
  try {
    return await msm.compute(onDevice);
  } finally {
    context.buffers.release(onDevice);
    msm.release();
  }
}
