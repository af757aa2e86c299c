import { babyjubjub } from '@noble/curves/misc.js';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createDirectKernels, openDirectKernels } from './direct-kernels.ts';
import { encodeIntegers } from './runtime/integers.ts';
import {
  compileKernels,
  detectMultiplier,
  type Multiplier,
  scanSet,
} from './runtime/wasm-module.ts';
import { recodeScalar } from './scan/babyjubjub.ts';

const { Point } = babyjubjub;
const { n: order, p: modulus } = Point.CURVE();

function pack({ x, y }: { readonly x: bigint; readonly y: bigint }): Uint8Array {
  const bytes = encodeIntegers([y]);
  bytes[31] = (bytes[31] ?? 0) | (x > (modulus - 1n) / 2n ? 0x80 : 0);
  return bytes;
}

const scalars = fc.bigInt({ min: 1n, max: order - 1n });
const points = scalars.map((scalar) => Point.BASE.multiply(scalar));
const offCurve = new Uint8Array(32).fill(255);

const multipliers: readonly Multiplier[] =
  detectMultiplier() === 'float' ? ['float', 'integer'] : ['integer'];

describe.each(multipliers)('multiplyPoints, %s multiplier', async (multiplier) => {
  const module = await compileKernels(scanSet, multiplier, false);
  const { multiplyPoints } = openDirectKernels(module);

  it('multiplies one point and two like noble', () => {
    fc.assert(
      fc.property(points, points, scalars, (first, second, scalar) => {
        const both = Uint8Array.of(...pack(first.toAffine()), ...pack(second.toAffine()));
        const products = [first, second].map((point) => point.multiply(scalar).toAffine());
        expect(multiplyPoints(both, scalar)).toEqual(products);
        expect(multiplyPoints(both.subarray(32), scalar)).toEqual(products.slice(1));
      }),
      { numRuns: 20 },
    );
  });

  it('unpacks a point when there is no scalar', () => {
    fc.assert(
      fc.property(points, (point) => {
        expect(multiplyPoints(pack(point.toAffine()))).toEqual([point.toAffine()]);
      }),
      { numRuns: 20 },
    );
  });

  it('refuses a point that is not in the subgroup, beside one that is', () => {
    const good = Point.BASE.toAffine();
    const bytes = Uint8Array.of(...offCurve, ...pack(good));
    expect(multiplyPoints(bytes)).toEqual([undefined, good]);
    expect(multiplyPoints(bytes, 5n)).toEqual([undefined, Point.BASE.multiply(5n).toAffine()]);
  });

  it.each([0n, order, -1n, 2n ** 256n + 5n, 5n - 2n ** 256n])('refuses the scalar %s', (scalar) => {
    expect(() => multiplyPoints(pack(Point.BASE.toAffine()), scalar)).toThrow(
      expect.objectContaining({ code: 'input_refused' }),
    );
  });

  it.each([0, 31, 33, 96])('refuses points of %s bytes', (bytes) => {
    expect(() => multiplyPoints(new Uint8Array(bytes), 5n)).toThrow(
      expect.objectContaining({ code: 'input_refused' }),
    );
  });

  it('leaves neither points nor scalar in memory', () => {
    const memories: WebAssembly.Memory[] = [];
    const { Memory } = WebAssembly;
    const spy = vi.spyOn(WebAssembly, 'Memory').mockImplementation(function create(descriptor) {
      const memory = new Memory(descriptor);
      memories.push(memory);
      return memory;
    });
    const kernels = openDirectKernels(module);
    spy.mockRestore();
    const point = pack(Point.BASE.multiply(1234567n).toAffine());
    const [product] = kernels.multiplyPoints(point, 99n);
    const bytes = Buffer.from(new Uint8Array(memories[0]?.buffer ?? new ArrayBuffer(0)).slice());
    expect(bytes.length).toBeGreaterThan(65_536);
    for (const secret of [
      point,
      encodeIntegers([product?.x ?? 0n]),
      encodeIntegers([product?.y ?? 0n]),
      recodeScalar(encodeIntegers([99n])),
    ]) {
      expect(bytes.includes(Buffer.from(secret))).toBe(false);
    }
  });
});

it('has the same results with the code that it loads after some calls', async () => {
  const compile = vi.spyOn(WebAssembly, 'compile');
  const { multiplyPoints } = createDirectKernels();
  const point = pack(Point.BASE.toAffine());
  for (let scalar = 1n; scalar < 256n; scalar += 1n) multiplyPoints(point, scalar);
  expect(compile).not.toHaveBeenCalled();
  const expected = multiplyPoints(point, 1234567n);
  await expect.poll(() => compile.mock.calls).toHaveLength(multipliers.length - 1);
  await Promise.allSettled(compile.mock.results.map(({ value }) => value as Promise<unknown>));
  expect(multiplyPoints(point, 1234567n)).toEqual(expected);
  compile.mockRestore();
});
