/** Sums in G2 on a device against @noble/curves. A file of its own: software renderers compile the extension field slowly. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { computeOnDevice, TINY_SEGMENTS } from '../../test/msm-on-device.ts';
import { expectG2, listCases } from '../../test/msm-points.ts';
import { openTestDevice } from '../../test/test-device.ts';
import { createBuffers } from './buffers.ts';
import { findLimbLayout } from './limbs.ts';
import { createMsmContext } from './msm.ts';

const gpu = await openTestDevice();
const context = gpu && createMsmContext(gpu, createBuffers(gpu), findLimbLayout('digits-13-loop'));

// Apart from the tests, which have less time: a software renderer compiles for many seconds.
beforeAll(async () => {
  await context?.kernels.of('g2');
}, 600_000);

afterAll(() => {
  context?.workspace.release();
  gpu?.close();
});

describe.skipIf(!context)('sums in G2', () => {
  if (!context) return;
  test.each(Object.entries(listCases(41)))('41 points, %s', async (_, sums) => {
    const want = expectG2(sums.factors, sums.scalars);
    for (const tuning of [
      { bits: 8, tables: 32 },
      { bits: 6, tables: 9, segment: TINY_SEGMENTS },
    ]) {
      expect(await computeOnDevice(context, 'g2', sums, tuning)).toEqual(want);
    }
  });

  test.each([1, 2, 3, 64, 65])('%i points', async (size) => {
    const sums = listCases(size).random;
    expect(await computeOnDevice(context, 'g2', sums)).toEqual(
      expectG2(sums.factors, sums.scalars),
    );
  });
});
