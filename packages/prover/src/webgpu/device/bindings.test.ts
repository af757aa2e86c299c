/** Bindings and the limits of a device. Needs no driver: the null device has limits and computes nothing. */
import { readdir, readFile } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { limitGpu } from '../../../test/limited-device.ts';
import { openNullDevice } from '../../../test/test-device.ts';
import { divideRows, partStarts } from '../quotient/quotient-rows.ts';
import { createBindGroup, storageLimit } from './bindings.ts';
import { createBuffers } from './buffers.ts';

const gpu = await openNullDevice();
const buffers = createBuffers(gpu);
afterAll(() => {
  gpu.close();
});

describe('a binding', () => {
  const layout = gpu.device.createBindGroupLayout({
    entries: [{ binding: 0, visibility: 4, buffer: { type: 'storage' } }],
  });
  const limited = limitGpu(gpu, { maxStorageBufferBindingSize: 1024 });
  const buffer = buffers.take(2048, { label: 'something large' });

  it('is refused beyond the limit, by name and size, before any call to the device', async () => {
    expect(() => createBindGroup(limited, layout, [[0, buffer]])).toThrow(
      expect.objectContaining({
        code: 'accelerator_limit_exceeded',
        retryable: false,
        message: expect.stringMatching(/something large needs 2048 bytes.*takes 1024/),
      }),
    );
    expect(() => createBuffers(limitGpu(gpu, { maxBufferSize: 1024 })).take(1028)).toThrow(
      expect.objectContaining({ code: 'accelerator_limit_exceeded' }),
    );
    await gpu.device.queue.onSubmittedWorkDone();
    gpu.assertHealthy();
  });

  it('of a part inside the buffer is made, and of a part outside it is refused', async () => {
    await limited.guard(() =>
      createBindGroup(limited, layout, [[0, { buffer, offset: 1024, size: 1024 }]]),
    );
    for (const [offset, size] of [
      [1024, 1028],
      [128, 256],
      [256, 0],
    ] as const) {
      expect(() => createBindGroup(gpu, layout, [[0, { buffer, offset, size }]])).toThrow(
        RangeError,
      );
    }
  });

  it('is made in one place only', async () => {
    const webgpu = `${import.meta.dirname}/..`;
    const files = (await readdir(webgpu, { recursive: true })).filter(
      (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
    );
    const makers = await Promise.all(
      files.map(async (name) => {
        const text = await readFile(`${webgpu}/${name}`, 'utf8');
        return text.includes('device.createBindGroup(') ? [name] : [];
      }),
    );
    expect(makers.flat()).toEqual(['device/bindings.ts']);
  });

  it('has the smaller of both limits, in whole offsets', () => {
    const both = { maxStorageBufferBindingSize: 5000, maxBufferSize: 4100 };
    expect(storageLimit(limitGpu(gpu, both))).toBe(4096);
  });
});

describe('parts of rows', () => {
  /** Rows of so many terms. */
  const startsOf = (lengths: readonly number[]): Uint32Array => {
    let total = 0;
    return Uint32Array.from([0, ...lengths.map((length) => (total += length))]);
  };
  const lengths = Array.from({ length: 200 }, (_, k) => (k * 37) % 33);
  const starts = startsOf(lengths);

  it.each([
    ['entries', 8, false, []],
    ['sums of sums', 32, true, []],
    ['sums of sums for two buffers', 32, true, [0, 96, 192]],
  ] as const)('contain every row once and fit: %s', (_, termBytes, areTermsInPlace, cuts) => {
    for (const bindingBytes of [10_240, 16_384, 100_000]) {
      const parts = divideRows(starts, { bindingBytes, termBytes, areTermsInPlace, cuts });
      let next = 0;
      for (const part of parts) {
        expect(part.first).toBe(next);
        next += part.count;
        // The bound data: sums, starts and terms, at aligned offsets.
        expect(part.count * 32).toBeLessThanOrEqual(bindingBytes);
        expect(part.terms * termBytes).toBeLessThanOrEqual(bindingBytes);
        if (!cuts.some((cut) => cut === part.first)) expect(part.first % 8).toBe(0);
        if (areTermsInPlace) expect(part.firstTerm % 8).toBe(0);
        for (const cut of cuts) {
          expect(part.first < cut && cut < part.first + part.count).toBe(false);
        }
        const own = partStarts(starts, part);
        expect(own).toHaveLength(part.count + 1);
        expect(own.map((start) => start + part.firstTerm)).toEqual(
          starts.slice(part.first, part.first + part.count + 1),
        );
        expect(own.at(-1)).toBe(part.terms);
      }
      expect(next).toBe(200);
      // The number of parts is minimal: two consecutive parts never fit together.
      const needed = Math.ceil(
        (lengths.reduce((sum, each) => sum + each, 0) * termBytes) / bindingBytes,
      );
      expect(parts.length).toBeLessThanOrEqual(2 * needed + cuts.length);
    }
  });

  it('that are too large in every division are refused', () => {
    const limits = { termBytes: 32, areTermsInPlace: true, cuts: [] };
    expect(() =>
      divideRows(startsOf(Array(16).fill(32)), { ...limits, bindingBytes: 8191 }),
    ).toThrow(expect.objectContaining({ code: 'accelerator_limit_exceeded' }));
    expect(
      divideRows(startsOf(Array(16).fill(32)), { ...limits, bindingBytes: 8192 }),
    ).toHaveLength(2);
  });
});
