/**
 * The transform to the odd coset against its definition: the polynomial through the given values, evaluated at every point of the
 * coset, in BigInt.
 */
import { invert } from '@noble/curves/abstract/modular.js';
import { decodeIntegers, encodeIntegers } from '@pool/kernels';
import { afterAll, describe, expect, it } from 'vitest';
import { openTestDevice } from '../../../test/test-device.ts';
import { scalarFieldOrder as R } from '../../base/field.ts';
import { createBuffers } from '../device/buffers.ts';
import { createPipelines } from '../device/pipelines.ts';
import { checkPairs } from '../field/benchmark.ts';
import { toMontgomery } from '../field/field.ts';
import { findLimbLayout } from '../field/limbs.ts';
import { createCosetTransform, type GpuContext, planPasses, rootOfUnity } from './ntt.ts';

const gpu = await openTestDevice();
const layout = findLimbLayout('digits-13-loop');

/** Textbook transform: values at the powers of `root`. */
function evaluate(coefficients: readonly bigint[], root: bigint): readonly bigint[] {
  if (coefficients.length === 1) return coefficients;
  const square = (root * root) % R;
  const even = evaluate(
    coefficients.filter((_, i) => i % 2 === 0),
    square,
  );
  const odd = evaluate(
    coefficients.filter((_, i) => i % 2 === 1),
    square,
  );
  const result: bigint[] = [];
  let power = 1n;
  for (let i = 0; i < coefficients.length; i++) {
    result.push(((even[i % even.length] ?? 0n) + power * (odd[i % odd.length] ?? 0n)) % R);
    power = (power * root) % R;
  }
  return result;
}

function toCoset(values: readonly bigint[], bits: number): readonly bigint[] {
  const scale = invert(BigInt(values.length), R);
  const shift = rootOfUnity(bits + 1);
  let power = scale;
  const coefficients = evaluate(values, invert(rootOfUnity(bits), R)).map((value) => {
    const shifted = (value * power) % R;
    power = (power * shift) % R;
    return shifted;
  });
  return evaluate(coefficients, rootOfUnity(bits));
}

function random(count: number): readonly bigint[] {
  return checkPairs(R, 700 + count)
    .slice(700)
    .map(([value]) => value);
}

describe('plans', () => {
  it('uses the roots of unity of snarkjs keys', () => {
    // ffjavascript's Fr.w[28].
    expect(rootOfUnity(28)).toBe(
      19103219067921713944291392827692070036145651957329286315305642004821462161904n,
    );
  });

  it('needs two passes for 2^18 and 2^20 in 32 KiB, and covers every bit once', () => {
    expect(planPasses(18, 32_768)).toHaveLength(2);
    expect(planPasses(20, 32_768)).toHaveLength(2);
    for (let bits = 0; bits <= 27; bits++) {
      for (const bytes of [16_384, 32_768]) {
        let left = bits;
        for (const pass of planPasses(bits, bytes)) {
          expect(pass.low + pass.bits).toBe(left);
          expect(2 ** (pass.bits + pass.run) * 32).toBeLessThanOrEqual(bytes);
          expect(pass.run).toBeLessThanOrEqual(pass.low);
          left = pass.low;
        }
        expect(left).toBe(0);
      }
    }
  });
});

describe.skipIf(gpu === undefined)('transforms on a graphics device', () => {
  const createContext = (): GpuContext => {
    if (gpu === undefined) throw new Error('no device');
    return { gpu, buffers: createBuffers(gpu), pipelines: createPipelines(gpu), layout };
  };
  afterAll(() => {
    gpu?.close();
  });

  const transform = async (
    context: GpuContext,
    polynomials: readonly (readonly bigint[])[],
    bits: number,
    tileBytes?: number,
  ): Promise<readonly (readonly bigint[])[]> => {
    const prepared = await createCosetTransform(context, bits, polynomials.length, tileBytes);
    const data = context.buffers.upload(
      encodeIntegers(polynomials.flat().map((value) => toMontgomery(value, R, layout))),
    );
    await context.gpu.guard(() => {
      const encoder = context.gpu.device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      prepared.record(pass, prepared.bindData(data));
      pass.end();
      context.gpu.device.queue.submit([encoder.finish()]);
    });
    const size = 2 ** bits;
    const fromRadix = invert(1n << BigInt(layout.radixBits), R);
    const words = decodeIntegers(await context.buffers.read(data, 0, data.size)).slice(
      0,
      size * polynomials.length,
    );
    context.buffers.release(data);
    prepared.release();
    expect(context.buffers.bytesInUse()).toBe(0);
    return polynomials.map((_, k) =>
      words.slice(k * size, (k + 1) * size).map((value) => (value * fromRadix) % R),
    );
  };

  it.each([0, 1, 2, 3, 6, 7, 10])('2^%i elements', async (bits) => {
    const size = 2 ** bits;
    const values = [random(size), Array<bigint>(size).fill(R - 1n)];
    const results = await transform(createContext(), values, bits);
    expect(results).toEqual(values.map((list) => toCoset(list, bits)));
  });

  it('2^11 elements, three polynomials: zeros, a single one, random', async () => {
    const size = 2 ** 11;
    const single = Array<bigint>(size).fill(0n);
    single[5] = 1n;
    const values = [Array<bigint>(size).fill(0n), single, random(size)];
    const results = await transform(createContext(), values, 11);
    expect(results).toEqual(values.map((list) => toCoset(list, 11)));
  });

  it.each([
    [7, 512],
    [9, 256],
    [8, 32_768],
  ])('2^%i elements in tiles of %i bytes', async (bits, bytes) => {
    const values = [random(2 ** bits)];
    const results = await transform(createContext(), values, bits, bytes);
    expect(results).toEqual(values.map((list) => toCoset(list, bits)));
  });
});
