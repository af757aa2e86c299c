/** Sums on a device against @noble/curves and against the kernels of the processor. Without an adapter, all of them are skipped (test/test-device.ts). */
import { createKernels, encodeIntegers, type Kernels } from '@pool/kernels';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limitGpu } from '../../../test/limited-device.ts';
import { computeOnDevice, readFrom, tinySegments } from '../../../test/msm-on-device.ts';
import { createRandom, encodePoints, expectG1, listCases } from '../../../test/msm-points.ts';
import { computeByKernels } from '../../../test/sums-by-kernels.ts';
import { openTestDevice } from '../../../test/test-device.ts';
import { createBuffers } from '../device/buffers.ts';
import { findLimbLayout } from '../field/limbs.ts';
import { createG1Msm, createMsmContext } from './msm.ts';
import type { MsmTuning } from './msm-plan.ts';
import { createMsmWorkspace } from './msm-workspace.ts';

const gpu = await openTestDevice();
const buffers = gpu && createBuffers(gpu);
const context = gpu && buffers && createMsmContext(gpu, buffers, findLimbLayout('digits-13-loop'));

let kernels: Kernels;

// Done before the tests, which have a shorter time limit: a software renderer compiles for many seconds.
beforeAll(async () => {
  await context?.kernels.of('g1');
  kernels = await createKernels({ threads: 1 });
}, 600_000);

afterAll(async () => {
  await kernels.close();
  context?.workspace.release();
  gpu?.close();
});

/** Widths and tables that reach every path: one group, several, none shared; segments so short that every bucket is split. */
const tuningCases: Readonly<Record<string, MsmTuning>> = {
  chosen: {},
  'all tables': { bits: 12, tables: 22 },
  'some tables, tiny segments': { bits: 6, tables: 4, segment: tinySegments },
  'two buckets a group': { bits: 2, tables: 2 },
  'several parts and slices': {
    bits: 7,
    tables: 3,
    partPoints: 40,
    sliceAdditions: 1,
    segment: tinySegments,
  },
};

/** For the cases whose scalars are special; tables are slow on a software renderer, and depend on the points alone. */
const withoutTables: readonly MsmTuning[] = [
  { bits: 8, tables: 1 },
  { bits: 6, tables: 1, segment: tinySegments },
];
/** The cases whose points are special. */
const withTables = new Set(['random', 'many infinite', 'points and their negatives']);

describe.skipIf(!context)('sums in G1', () => {
  if (!context) return;
  for (const [name, { factors, scalars }] of Object.entries(listCases(97))) {
    test(`97 points, ${name}`, async () => {
      const want = expectG1(factors, scalars);
      expect(await computeByKernels(kernels, 'g1', { factors, scalars })).toEqual(want);
      for (const tuning of withTables.has(name) ? Object.values(tuningCases) : withoutTables) {
        expect(await computeOnDevice(context, 'g1', { factors, scalars }, tuning)).toEqual(want);
      }
    });
  }

  test.each([1, 2, 3, 63, 64, 65, 255, 256, 257])('%i points', async (size) => {
    const { factors, scalars } = listCases(size).random;
    const want = expectG1(factors, scalars);
    expect(await computeByKernels(kernels, 'g1', { factors, scalars })).toEqual(want);
    expect(await computeOnDevice(context, 'g1', { factors, scalars })).toEqual(want);
    expect(
      await computeOnDevice(context, 'g1', { factors, scalars }, { bits: 9, tables: 1 }),
    ).toEqual(want);
  });

  test('no points', async () => {
    expect(await computeOnDevice(context, 'g1', { factors: [], scalars: [1n] })).toBeUndefined();
  });

  test('2^13 points, mostly with the scalar 1: the overfull bucket is summed as a tree', async () => {
    const random = createRandom(3n);
    const factors = Array.from({ length: 8192 }, (_, k) => (k % 200) + 1);
    const scalars = factors.map((_, k) => (k % 16 === 0 ? random.scalar() : 1n));
    const onDevice = await computeOnDevice(context, 'g1', { factors, scalars });
    expect(onDevice).toEqual(expectG1(factors, scalars));
    expect(onDevice).toEqual(await computeByKernels(kernels, 'g1', { factors, scalars }));
  });

  test('in parts, with points read in blocks, on a device with a small binding limit', async () => {
    const limited = limitGpu(context.gpu, { maxStorageBufferBindingSize: 2 ** 16 });
    const own = createBuffers(limited);
    const workspace = createMsmWorkspace(own);
    const { factors, scalars } = listCases(1030).random;
    const want = expectG1(factors, scalars);
    const small = { ...context, gpu: limited, buffers: own, workspace };
    expect(await computeOnDevice(small, 'g1', { factors, scalars })).toEqual(want);
    workspace.release();
    expect(own.bytesInUse()).toBe(0);
  });

  test('points start at a later scalar; sums run at the same time; one result buffer', async () => {
    const factors = [5, 0, 7, 9, 11, 13];
    const scalars = [3n, 4n, 5n, 6n, 7n, 8n, 9n, 10n];
    const bytes = encodePoints('g1', factors);
    const base = { count: 6, read: readFrom(bytes, 64) };
    const early = await createG1Msm(context, base);
    const late = await createG1Msm(context, {
      ...base,
      firstScalar: 2,
      tuning: { bits: 4, tables: 2 },
    });
    const onDevice = context.buffers.upload(encodeIntegers(scalars));
    const wantEarly = expectG1(factors, scalars);
    const wantLate = expectG1(factors, scalars.slice(2));
    expect(await Promise.all([early.compute(onDevice), late.compute(onDevice)])).toEqual([
      wantEarly,
      wantLate,
    ]);

    const result = context.buffers.take(early.resultBytes + late.resultBytes);
    const encoder = context.gpu.device.createCommandEncoder();
    early.encode(encoder, onDevice, result, 0);
    late.encode(encoder, onDevice, result, early.resultBytes);
    context.gpu.device.queue.submit([encoder.finish()]);
    const read = await context.buffers.read(result, 0, early.resultBytes + late.resultBytes);
    expect(early.decode(read.subarray(0, early.resultBytes))).toEqual(wantEarly);
    expect(late.decode(read.subarray(early.resultBytes))).toEqual(wantLate);

    expect(early.points).toBe(5);
    const held = context.buffers.bytesInUse();
    late.release();
    expect(context.buffers.bytesInUse()).toBeLessThan(held);
    early.release();
    context.buffers.release(result);
    context.buffers.release(onDevice);
  });
});
