/** The WebGPU engine on a device: its sums against arithmetic on known multiples, and its behaviour on failure. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeIntegers } from '@pool/kernels';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limitGpu } from '../../test/limited-device.ts';
import { random } from '../../test/quotient-reference.ts';
import { createSyntheticKey } from '../../test/synthetic-key.ts';
import { openTestDevice } from '../../test/test-device.ts';
import type { Engine, ResidentKey } from '../engine/engine.ts';
import type { Gpu } from './device/device.ts';
import { createDeviceEngine, createWebGpuEngine } from './engine.ts';
import { describeLayoutKey, openLayoutCache } from './field/layout-cache.ts';
import { findLimbLayout } from './field/limbs.ts';

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

const probe = await openTestDevice();
const hasDevice = probe !== undefined;
probe?.close();

const layout = findLimbLayout('digits-13-loop');
const lost = { code: 'accelerator_lost', retryable: true };

async function open(memoryBudgetBytes = 2 ** 28): Promise<{ gpu: Gpu; engine: Engine }> {
  const adapter = await openTestDevice();
  if (adapter === undefined) throw new Error('no device');
  const gpu = limitGpu(adapter, { maxStorageBufferBindingSize: bindingBytes });
  return { gpu, engine: createDeviceEngine(gpu, { layout: layout, memoryBudgetBytes }) };
}

describe.skipIf(!hasDevice)('the WebGPU engine on a graphics device', () => {
  let engine: Engine;
  let gpu: Gpu;
  let resident: ResidentKey;
  let other: ResidentKey;
  const progress: string[] = [];
  // A software renderer compiles the shaders of G2 slowly, so it is done once for all tests.
  beforeAll(async () => {
    if (!hasDevice) return;
    ({ gpu, engine } = await open());
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
    await openLayoutCache(cacheDir).write(await describeLayoutKey(gpu, [layout]), kept);
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
    await rm(cacheDir, { recursive: true, force: true });
  });
});
