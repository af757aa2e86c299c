/**
 * The WebGPU engine on a device: its sums against @noble/curves and the kernels of the processor, and its behaviour on failure. One file,
 * because a software renderer compiles the shaders of the curve for many seconds, once for all contexts on one device. Without an
 * adapter, all of it is skipped (test/test-device.ts).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKernels, encodeIntegers, type Kernels } from '@pool/kernels';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { limitGpu } from '../../test/limited-device.ts';
import { computeOnDevice, readFrom, tinySegments } from '../../test/msm-on-device.ts';
import {
  createRandom,
  encodePoints,
  expectG1,
  expectG2,
  listCases,
} from '../../test/msm-points.ts';
import { random } from '../../test/quotient-reference.ts';
import { computeByKernels } from '../../test/sums-by-kernels.ts';
import { createSyntheticKey } from '../../test/synthetic-key.ts';
import { openTestDevice } from '../../test/test-device.ts';
import type { Engine, ResidentKey } from '../engine/engine.ts';
import { createBuffers } from './device/buffers.ts';
import type { Gpu } from './device/device.ts';
import { createDeviceEngine, createWebGpuEngine } from './engine.ts';
import { describeLayoutKey, openLayoutCache } from './field/layout-cache.ts';
import { findLimbLayout } from './field/limbs.ts';
import { createG1Msm, createMsmContext } from './msm/msm.ts';
import type { MsmTuning } from './msm/msm-plan.ts';
import { createMsmWorkspace } from './msm/msm-workspace.ts';

const wires = 50;
const key = createSyntheticKey({ domainSize: 64, wires: wires, publicSignals: 2 });
const small = createSyntheticKey({ domainSize: 4, wires: 3, publicSignals: 1 });
/** The polynomials together, and the digits of its points, exceed a binding of the device below. */
const divided = createSyntheticKey({ domainSize: 2048, wires: wires, publicSignals: 2 });
const tooLarge = createSyntheticKey({ domainSize: 8192, wires: 3, publicSignals: 1 });
/** Two polynomials of 2,048 rows, and hardly more than sums in G2 need for their buckets. */
const bindingBytes = 2 ** 17;
const witnesses = [0, 1, 2].map((k) => [1n, ...random.slice(k * wires, (k + 1) * wires - 1)]);
const witness = witnesses[0] ?? [];

/** Without it, a part of the cases in G2 and of the sizes: a software renderer is slow. */
const isFullRun = process.env['POOL_TEST_FULL'] === '1';
const layout = findLimbLayout('digits-13-loop');
const shared = await openTestDevice();
const hasDevice = shared !== undefined;
const context = shared && createMsmContext(shared, createBuffers(shared), layout);
const lost = { code: 'accelerator_lost', retryable: true };

async function open(
  memoryBudgetBytes = 2 ** 28,
  device?: Gpu,
): Promise<{ gpu: Gpu; engine: Engine }> {
  const adapter = device ?? (await openTestDevice());
  if (adapter === undefined) throw new Error('no device');
  const gpu = limitGpu(adapter, { maxStorageBufferBindingSize: bindingBytes });
  return { gpu, engine: createDeviceEngine(gpu, { layout: layout, memoryBudgetBytes }) };
}

let kernels: Kernels;

// Done before the tests, which have a shorter time limit: a software renderer compiles for many seconds.
beforeAll(async () => {
  await Promise.all([context?.kernels.of('g1'), context?.kernels.of('g2')]);
  kernels = await createKernels({ threads: 1 });
}, 600_000);

afterAll(async () => {
  await kernels.close();
  context?.workspace.release();
  shared?.close();
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

  test.each(isFullRun ? [1, 2, 3, 63, 64, 65, 255, 256, 257] : [1, 3, 64, 65, 257])(
    '%i points',
    async (size) => {
      const { factors, scalars } = listCases(size).random;
      const want = expectG1(factors, scalars);
      expect(await computeByKernels(kernels, 'g1', { factors, scalars })).toEqual(want);
      expect(await computeOnDevice(context, 'g1', { factors, scalars })).toEqual(want);
      expect(
        await computeOnDevice(context, 'g1', { factors, scalars }, { bits: 9, tables: 1 }),
      ).toEqual(want);
    },
  );

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
    // 33 parts: four points and their digits fill a binding.
    const { factors, scalars } = listCases(130).random;
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

describe.skipIf(!context)('sums in G2', () => {
  if (!context) return;
  const casesInG2 = Object.entries(listCases(41)).filter(
    ([name]) => isFullRun || /random|zero|around|infinite|negatives|circuits/.test(name),
  );
  test.each(casesInG2)('41 points, %s', async (name, sums) => {
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

  test.each(isFullRun ? [1, 2, 3, 64, 65] : [1, 65])('%i points', async (size) => {
    const sums = listCases(size).random;
    const onDevice = await computeOnDevice(context, 'g2', sums);
    expect(onDevice).toEqual(expectG2(sums.factors, sums.scalars));
    expect(onDevice).toEqual(await computeByKernels(kernels, 'g2', sums));
  });
});

// The last tests on the shared device, which they lose.
describe.skipIf(!hasDevice)('the WebGPU engine on a graphics device', () => {
  let engine: Engine;
  let gpu: Gpu;
  let resident: ResidentKey;
  let other: ResidentKey;
  const progress: string[] = [];
  beforeAll(async () => {
    if (!hasDevice) return;
    ({ gpu, engine } = await open(2 ** 28, shared));
    [resident, other] = await Promise.all([
      engine.load(key.zkey, {
        onProgress: (phase, fraction) => progress.push(`${phase} ${fraction === 1}`),
      }),
      engine.load(small.zkey),
    ]);
  }, 400_000);
  afterAll(async () => {
    if (hasDevice) await engine.close();
  });

  it('computes the five sums, for several keys and proofs at once', async () => {
    expect(progress.at(-1)).toBe('load true');
    expect(resident.bytes).toBeLessThan(engine.estimateBytes?.(key.zkey.header) ?? 0);
    const smallWitness = [1n, 5n, 7n];
    const results = await Promise.all([
      ...witnesses.map((wires) => resident.computeSums(encodeIntegers(wires))),
      other.computeSums(encodeIntegers(smallWitness)),
    ]);
    expect(results).toEqual([
      ...witnesses.map((wires) => key.expectSums(wires)),
      small.expectSums(smallWitness),
    ]);
    other.release();
    await expect(other.computeSums(encodeIntegers(smallWitness))).rejects.toMatchObject({
      code: 'proof_failed',
    });
    await expect(resident.computeSums(new Uint8Array(32))).rejects.toMatchObject({
      code: 'artifacts_mismatch',
    });
  });

  it('computes them in parts if a key exceeds the binding limit of the device', async () => {
    const key = await engine.load(divided.zkey);
    expect(await key.computeSums(encodeIntegers(witness))).toEqual(divided.expectSums(witness));
    key.release();
  }, 300_000);

  it('refuses a key that cannot be divided far enough before it reads the key, and continues', async () => {
    await expect(engine.load(tooLarge.zkey)).rejects.toMatchObject({
      code: 'accelerator_limit_exceeded',
      message: expect.stringMatching(/a polynomial needs 262144 bytes.*takes 131072/),
    });
    expect(await resident.computeSums(encodeIntegers(witness))).toEqual(key.expectSums(witness));
  });

  it('stops at the signal, and makes later proofs', async () => {
    const controller = new AbortController();
    const ended = resident.computeSums(encodeIntegers(witness), {
      signal: controller.signal,
      onProgress: () => {
        controller.abort(new Error('enough'));
      },
    });
    await expect(ended).rejects.toThrow('enough');
    const phases: string[] = [];
    const sums = await resident.computeSums(encodeIntegers(witness), {
      onProgress: (phase) => phases.push(phase),
    });
    expect(sums).toEqual(key.expectSums(witness));
    expect(phases).toEqual(['quotient', 'sums', 'sums', 'sums', 'sums', 'sums']);
  });

  it('reports a lost device, during a call and afterwards', async () => {
    await expect(
      resident.computeSums(encodeIntegers(witness), {
        onProgress: () => {
          gpu.device.destroy();
        },
      }),
    ).rejects.toMatchObject(lost);
    await expect(resident.computeSums(encodeIntegers(witness))).rejects.toMatchObject(lost);
    await expect(engine.load(key.zkey)).rejects.toMatchObject(lost);
  });
});

describe.skipIf(!hasDevice)('a WebGPU engine without a key', () => {
  it('fails after an error that the device reports unprompted, and does not report a lost device', async () => {
    const { engine, gpu } = await open();
    // A buffer that the host maps for writing and shaders read does not exist.
    gpu.device.createBuffer({ size: 16, usage: 0x0002 | 0x0080 });
    await gpu.device.queue.onSubmittedWorkDone();
    for (const attempt of [engine.load(small.zkey), engine.load(small.zkey)]) {
      await expect(attempt).rejects.toMatchObject({
        code: 'accelerator_refused',
        retryable: false,
        message: expect.stringContaining('MapWrite'),
      });
    }
    await engine.close();
  });

  it('reports missing device memory as memory_budget_exceeded, once', async () => {
    const { engine, gpu } = await open();
    // SwiftShader cannot allocate a gigabyte in one piece, although its limits allow it.
    gpu.device.createBuffer({ size: gpu.device.limits.maxBufferSize, usage: 0x0080 }).destroy();
    await gpu.device.queue.onSubmittedWorkDone();
    expect(() => {
      gpu.assertHealthy();
    }).toThrow(expect.objectContaining({ code: 'memory_budget_exceeded' }));
    expect(() => {
      gpu.assertHealthy();
    }).not.toThrow();
    await engine.close();
  });

  it('refuses a key beyond its budget before it reads it', async () => {
    const { engine } = await open(1000);
    await expect(engine.load(key.zkey)).rejects.toMatchObject({ code: 'memory_budget_exceeded' });
    await engine.close();
  });

  it('rejects waiting calls when it is closed', async () => {
    const { engine } = await open();
    const failed = expect(engine.load(key.zkey)).rejects.toMatchObject({ code: 'prover_closed' });
    await engine.close();
    await failed;
  });

  it('does nothing for an aborted call', async () => {
    const { engine } = await open();
    const signal = AbortSignal.abort(new Error('not now'));
    await expect(engine.load(key.zkey, { signal })).rejects.toThrow('not now');
    await engine.close();
  });
});

describe.skipIf(!hasDevice)('finding a graphics device', () => {
  it('accepts a software renderer only if that is allowed', async () => {
    expect(await createWebGpuEngine()).toEqual({
      reason: expect.stringContaining('runs on the processor'),
    });
    // The folder contains the files of an earlier start: the layout is read and tested, not measured again.
    const gpu = await openTestDevice();
    if (gpu === undefined) throw new Error('no device');
    const cacheDir = await mkdtemp(join(tmpdir(), 'webgpu-engine-'));
    const kept = [{ name: layout.name, isCorrect: true, multiplicationsPerSecond: 123e9 }];
    await openLayoutCache(cacheDir)?.write(await describeLayoutKey(gpu, [layout]), kept);
    gpu.close();
    const opened = await createWebGpuEngine({
      allowSoftwareAdapter: true,
      layout: layout.name,
      cacheDir,
    });
    if ('reason' in opened) throw new Error(opened.reason);
    expect(opened.engine.kind).toBe('webgpu');
    expect(opened.engine.detail).toMatch(/SwiftShader.*digits-13-loop, 123 billion/);
    expect(opened.measurements).toEqual(kept);
    await opened.engine.close();
    const software = { allowSoftwareAdapter: true, layout: layout.name, cacheDir };
    expect(await createWebGpuEngine({ ...software, measureProcessor: async () => 124e9 })).toEqual({
      reason: expect.stringMatching(/SwiftShader.*: 123 billion .*, the processor 124 billion/),
    });
    const faster = await createWebGpuEngine({ ...software, measureProcessor: async () => 122e9 });
    expect('engine' in faster).toBe(true);
    if ('engine' in faster) await faster.engine.close();
    await rm(cacheDir, { recursive: true, force: true });
  });
});
