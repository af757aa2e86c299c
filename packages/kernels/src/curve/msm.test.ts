// Sums and multiples of points, compared with @noble/curves, in both groups and with both multipliers.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytesOf, createScalars, encodeMultiple, R, sumBoth } from '../../test/curve-oracle.ts';
import { createKernels, type Kernels } from '../kernels.ts';
import type { Group } from './points.ts';

const random = createScalars(20_261_121n);
const edges = [0n, 1n, R - 1n, 2n, R - 2n, (R - 1n) / 2n, (R + 1n) / 2n, 1n << 64n, 1n << 253n];

const scalarKinds: Record<string, (index: number) => bigint> = {
  random: () => random(),
  'all 0': () => 0n,
  'all 1': () => 1n,
  'all r-1': () => R - 1n,
  'powers of two': (index) => (1n << BigInt(index % 254)) % R,
  'negated powers of two': (index) => R - ((1n << BigInt(index % 253)) % R),
  'one that is not zero': (index) => (index === 0 ? 123_456_789n ** 7n % R : 0n),
  edges: (index) => edges[index % edges.length] ?? 0n,
};
const pointKinds: Record<string, (index: number) => bigint> = {
  different: (index) => BigInt(index + 1) ** 3n,
  'all the same': () => 7n,
  'with infinity and negatives': (index) => (index % 5 === 0 ? 0n : index % 2 ? 9n : -9n),
};

describe.each(['float', 'integer'] as const)('with the %s multiplier', (multiplier) => {
  let kernels: Kernels;
  beforeAll(async () => {
    kernels = await createKernels({ threads: 2, multiplier, maximumBytes: 2 ** 29 });
  });
  afterAll(() => kernels.close());

  const check = async (group: Group, points: readonly bigint[], scalars: readonly bigint[]) => {
    const { sum, expected } = await sumBoth(kernels, group, points, scalars);
    expect(sum).toBe(expected);
  };

  describe.each(['g1', 'g2'] as const)('in %s', (group) => {
    it.each(Object.keys(pointKinds))('sums points that are %s', async (kind) => {
      for (const scalarKind of Object.keys(scalarKinds)) {
        const indices = Array.from({ length: 65 }, (_, index) => index);
        await check(
          group,
          indices.map((index) => pointKinds[kind]?.(index) ?? 0n),
          indices.map((index) => scalarKinds[scalarKind]?.(index) ?? 0n),
        );
      }
    });

    it.each([1, 2, 3, 127, 128, 129])('sums %i points', async (count) => {
      const indices = Array.from({ length: count }, (_, index) => BigInt(index + 1));
      await check(
        group,
        indices,
        indices.map(() => random()),
      );
    });

    it('sums 5,000 points', async () => {
      const factors = Array.from({ length: 5000 }, (_, index) => BigInt((index % 250) + 1));
      await check(
        group,
        factors,
        factors.map(() => random()),
      );
    });

    it('multiplies the generator, and points one by one', async () => {
      const scalars = [...edges, ...Array.from({ length: 8 }, random)];
      const bytes = Buffer.concat(scalars.map((scalar) => bytesOf(scalar)));
      const multiples = await kernels.multiplyGenerator(group, bytes);
      const expected = Buffer.concat(scalars.map((scalar) => encodeMultiple(group, scalar)));
      expect(Buffer.from(multiples).equals(expected)).toBe(true);

      const each = await kernels.multiplyPoints(group, multiples, bytes);
      const squares = Buffer.concat(
        scalars.map((scalar) => encodeMultiple(group, scalar * scalar)),
      );
      expect(Buffer.from(each).equals(squares)).toBe(true);

      const common = await kernels.multiplyPoints(group, multiples, bytesOf(R - 5n));
      const fives = Buffer.concat(scalars.map((scalar) => encodeMultiple(group, -5n * scalar)));
      expect(Buffer.from(common).equals(fives)).toBe(true);
    });
  });
});
