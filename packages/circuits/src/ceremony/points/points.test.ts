/** The kernels as a ceremony uses them, against noble-curves: any points of the curve, and sums of few and of many. */
import { bn254 } from '@noble/curves/bn254.js';
import { encodeIntegers, type Group } from '@pool/kernels';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { R, sample } from '../../../test/fund-batch.ts';
import { createNobleArithmetic } from '../../../test/noble-arithmetic.ts';
import { createKernelArithmetic, type PointArithmetic } from './point-sums.ts';
import { encodeG1, encodeG2 } from './points.ts';

const noble = createNobleArithmetic();
let kernels: PointArithmetic;
beforeAll(async () => {
  kernels = await createKernelArithmetic();
});
afterAll(() => kernels.close());

function pointsOf(group: Group, count: number): Buffer {
  return Buffer.concat(
    Array.from({ length: count }, (_, i) => {
      const k = sample(`point ${i % 5}`);
      if (group === 'g1') {
        const point = bn254.G1.Point.BASE.multiply(k);
        return encodeG1(i === 3 ? bn254.G1.Point.ZERO : i % 2 === 0 ? point : point.negate());
      }
      const point = bn254.G2.Point.BASE.multiply(k);
      return encodeG2(i === 3 ? bn254.G2.Point.ZERO : i % 2 === 0 ? point : point.negate());
    }),
  );
}
const corners = [0n, 1n, 2n, R - 1n, (R - 1n) / 2n, (R + 1n) / 2n, 1n << 253n];
function scalarsOf(count: number): Buffer {
  return Buffer.concat(
    Array.from({ length: count }, (_, i) => encodeIntegers([corners[i] ?? sample(`scalar ${i}`)])),
  );
}

describe.each(['g1', 'g2'] as const)('in %s', (group) => {
  it.each([1, 2, 9, 33])('sums %i points', async (count) => {
    const [points, scalars] = [pointsOf(group, count), scalarsOf(count)];
    const sum = await kernels.computeMsm(group, points, scalars);
    expect(Buffer.from(sum)).toEqual(Buffer.from(await noble.computeMsm(group, points, scalars)));
  });

  it('returns infinity as the sum of no points', async () => {
    const none = new Uint8Array(0);
    const sum = await kernels.computeMsm(group, none, none);
    expect([...sum].every((byte) => byte === 0)).toBe(true);
    expect(sum).toHaveLength(group === 'g1' ? 64 : 128);
  });

  it('multiplies each point by its own scalar, and all points by one scalar', async () => {
    const points = pointsOf(group, 12);
    for (const scalars of [scalarsOf(12), encodeIntegers([sample('one for all')])]) {
      const products = await kernels.multiplyPoints(group, points, scalars);
      const expected = await noble.multiplyPoints(group, points, scalars);
      expect(Buffer.from(products)).toEqual(Buffer.from(expected));
    }
  });

  it('stops when aborted', async () => {
    const points = pointsOf(group, 33);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(kernels.multiplyPoints(group, points, scalarsOf(33), { signal })).rejects.toThrow(
      'enough',
    );
    await expect(kernels.computeMsm(group, points, scalarsOf(33), { signal })).rejects.toThrow(
      'enough',
    );
  });
});
