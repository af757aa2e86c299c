/** Every shader passes WGSL's checks in every limb layout. Needs no driver: Dawn's null device checks and computes nothing. */
import { afterAll, describe, expect, it } from 'vitest';
import { openNullDevice } from '../../test/test-device.ts';
import { createBuffers } from './device/buffers.ts';
import { createPipelines } from './device/pipelines.ts';
import { measureLayouts } from './field/benchmark.ts';
import { limbLayouts } from './field/limbs.ts';
import { createMsmKernels } from './msm/msm-kernels.ts';
import { createCosetTransform } from './quotient/ntt.ts';
import {
  generateEnterValues,
  generateEntrySums,
  generateProducts,
  generateQuotient,
  generateSumSums,
} from './quotient/quotient-wgsl.ts';

const gpu = await openNullDevice();
const buffers = createBuffers(gpu);
const pipelines = createPipelines(gpu);

afterAll(() => {
  gpu.close();
});

describe.each(limbLayouts.map((layout) => [layout.name, layout] as const))('%s', (_, layout) => {
  it('value test and benchmark: a device that computes nothing fails the test', async () => {
    const [measurement] = await measureLayouts(gpu, buffers, pipelines, [layout]);
    expect(measurement).toEqual({
      name: layout.name,
      isCorrect: false,
      multiplicationsPerSecond: undefined,
    });
  });

  it('row products and quotient', async () => {
    for (const generate of [generateEnterValues, generateEntrySums, generateSumSums]) {
      await expect(pipelines.compile(generate(layout))).resolves.toBeDefined();
    }
    for (const polynomials of ['together', 'apart'] as const) {
      for (const generate of [generateProducts, generateQuotient]) {
        await expect(pipelines.compile(generate(layout, polynomials))).resolves.toBeDefined();
      }
    }
  });

  it('transforms in one pass, two and three', async () => {
    const context = { gpu, buffers, pipelines, layout };
    for (const [bits, tileBytes] of [
      [3, 2048],
      [13, 16_384],
      [13, 1024],
    ] as const) {
      (await createCosetTransform(context, bits, 3, tileBytes)).release();
    }
    expect(buffers.bytesInUse()).toBe(0);
  });

  it('sums of points', async () => {
    const kernels = createMsmKernels(gpu, layout);
    for (const group of ['g1', 'g2'] as const) {
      await expect((await kernels.of(group)).multiples()).resolves.toBeDefined();
    }
  });
});

describe('a shader with a mistake', () => {
  it('is refused with the place and the reason', async () => {
    const wgsl = '@compute @workgroup_size(1)\nfn main() { let x: u32 = 1.5; }';
    await expect(pipelines.compile(wgsl, { label: 'wrong' })).rejects.toMatchObject({
      code: 'accelerator_refused',
      message: expect.stringMatching(/wrong does not compile: line 2/),
    });
    gpu.assertHealthy();
  });
});
