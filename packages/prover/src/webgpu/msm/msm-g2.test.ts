/** Sums in G2 on a device against @noble/curves and against the kernels of the processor. It is a separate file, because software renderers compile the extension field slowly. */
import { createKernels, type Kernels } from '@pool/kernels';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { computeOnDevice, tinySegments } from '../../../test/msm-on-device.ts';
import { expectG2, listCases } from '../../../test/msm-points.ts';
import { computeByKernels } from '../../../test/sums-by-kernels.ts';
import { openTestDevice } from '../../../test/test-device.ts';
import { createBuffers } from '../device/buffers.ts';
import { findLimbLayout } from '../field/limbs.ts';
import { createMsmContext } from './msm.ts';

const gpu = await openTestDevice();
const context = gpu && createMsmContext(gpu, createBuffers(gpu), findLimbLayout('digits-13-loop'));

let kernels: Kernels;

// Done before the tests, which have a shorter time limit: a software renderer compiles for many seconds.
beforeAll(async () => {
  await context?.kernels.of('g2');
  kernels = await createKernels({ threads: 1 });
}, 600_000);

afterAll(async () => {
  await kernels.close();
  context?.workspace.release();
  gpu?.close();
});

describe.skipIf(!context)('sums in G2', () => {
  if (!context) return;
  test.each(Object.entries(listCases(41)))('41 points, %s', async (name, sums) => {
    const want = expectG2(sums.factors, sums.scalars);
    expect(await computeByKernels(kernels, 'g2', sums)).toEqual(want);
    // Tables depend on the points alone, and a software renderer compiles and fills them slowly.
    for (const tuning of [
      { bits: 8, tables: 1 },
      { bits: 6, tables: name === 'random' ? 3 : 1, segment: tinySegments },
    ]) {
      expect(await computeOnDevice(context, 'g2', sums, tuning)).toEqual(want);
    }
  });

  test.each([1, 2, 3, 64, 65])('%i points', async (size) => {
    const sums = listCases(size).random;
    const onDevice = await computeOnDevice(context, 'g2', sums);
    expect(onDevice).toEqual(expectG2(sums.factors, sums.scalars));
    expect(onDevice).toEqual(await computeByKernels(kernels, 'g2', sums));
  });
});
