/** Field arithmetic on the device against BigInt: every layout's products, every operation, ends of the range. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  computeOnDevice,
  type DeviceContext,
  expectOperation,
  operations,
} from '../../../test/field-on-device.ts';
import { openTestDevice } from '../../../test/test-device.ts';
import { createBuffers } from '../device/buffers.ts';
import { createPipelines } from '../device/pipelines.ts';
import { checkPairs, chooseLayout, measureLayouts } from './benchmark.ts';
import { fieldModulus } from './field.ts';
import { findLimbLayout, limbLayouts } from './limbs.ts';

const gpu = await openTestDevice();

describe.skipIf(gpu === undefined)('field arithmetic on a graphics device', () => {
  let context: DeviceContext;
  beforeAll(() => {
    if (gpu === undefined) return;
    context = { gpu, buffers: createBuffers(gpu), pipelines: createPipelines(gpu) };
  });
  afterAll(() => {
    gpu?.close();
  });

  describe.each(limbLayouts.map((layout) => [layout.name, layout] as const))('%s', (_, layout) => {
    it.each(['fq', 'fr'] as const)('multiplies and squares in %s as BigInt does', async (field) => {
      const pairs = checkPairs(fieldModulus(field), 2048);
      for (const operation of ['mul', 'sqr'] as const) {
        const results = await computeOnDevice(context, field, layout, operation, pairs);
        expect(results).toEqual(
          pairs.map((pair) => expectOperation(field, layout, operation, pair)),
        );
      }
    });
  });

  describe.each(['fq', 'fr'] as const)('%s', (field) => {
    it.each(operations)('%s agrees with BigInt', async (operation) => {
      const layout = findLimbLayout('digits-15-loop');
      const pairs = checkPairs(fieldModulus(field), 800);
      const results = await computeOnDevice(context, field, layout, operation, pairs);
      expect(results).toEqual(pairs.map((pair) => expectOperation(field, layout, operation, pair)));
    });
  });

  it('uses the fastest layout among those that compute correctly', async () => {
    const wrong = {
      ...findLimbLayout('digits-15-loop'),
      // Claims another R than it computes with.
      radixBits: 254,
    };
    const layouts = [findLimbLayout('digits-13-loop'), wrong];
    const measured = await measureLayouts(context.gpu, context.buffers, context.pipelines, layouts);
    expect(measured.map(({ isCorrect }) => isCorrect)).toEqual([true, false]);
    expect(measured[0]?.multiplicationsPerSecond).toBeGreaterThan(1000);
    expect(measured[1]?.multiplicationsPerSecond).toBeUndefined();
    expect(chooseLayout(measured).name).toBe('digits-13-loop');
  });

  it('releases all memory', () => {
    expect(context.buffers.bytesInUse()).toBe(0);
  });
});

describe('the choice of a layout', () => {
  const measured = (
    name: 'digits-13-loop' | 'digits-15-loop',
    isCorrect: boolean,
    speed: number,
  ) => ({
    name,
    isCorrect,
    multiplicationsPerSecond: speed,
  });

  it('prefers the fastest of the correct layouts', () => {
    const best = chooseLayout([
      measured('digits-13-loop', true, 1),
      measured('digits-15-loop', true, 2),
    ]);
    expect(best.name).toBe('digits-15-loop');
  });

  it('refuses a device without a correct layout', () => {
    expect(() => chooseLayout([measured('digits-13-loop', false, 9)])).toThrow(
      expect.objectContaining({ code: 'accelerator_unavailable' }),
    );
  });
});
