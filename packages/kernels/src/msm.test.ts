// Sums and multiples of points against @noble/curves, in both groups and with both multipliers.
import { bn254 } from '@noble/curves/bn254.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Group } from './groups.ts';
import { createKernels, type Kernels } from './kernels.ts';

const R = bn254.fields.Fr.ORDER;
const Q = bn254.fields.Fp.ORDER;
const RADIX = (1n << 256n) % Q;
const bytesOf = (value: bigint): Buffer =>
  Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();

/** A repeatable stream of scalars. */
const createScalars = (seed: bigint): (() => bigint) => {
  let state = seed;
  return () => {
    state = (state * 6364136223846793005n + 1442695040888963407n) % R;
    return (state * state * state + seed) % R;
  };
};

const groups = {
  g1: {
    base: bn254.G1.Point.BASE,
    encode: (point: typeof bn254.G1.Point.BASE) => {
      if (point.is0()) return Buffer.alloc(64);
      const { x, y } = point.toAffine();
      return Buffer.concat([x, y].map((value) => bytesOf((value * RADIX) % Q)));
    },
  },
  g2: {
    base: bn254.G2.Point.BASE,
    encode: (point: typeof bn254.G2.Point.BASE) => {
      if (point.is0()) return Buffer.alloc(128);
      const { x, y } = point.toAffine();
      return Buffer.concat([x.c0, x.c1, y.c0, y.c1].map((value) => bytesOf((value * RADIX) % Q)));
    },
  },
};

/** The points are multiples of the generator: the expected sum is one multiple of it. */
const encodeMultiple = (group: Group, factor: bigint): Buffer => {
  const k = ((factor % R) + R) % R;
  if (group === 'g1') {
    return groups.g1.encode(k === 0n ? bn254.G1.Point.ZERO : groups.g1.base.multiply(k));
  }
  return groups.g2.encode(k === 0n ? bn254.G2.Point.ZERO : groups.g2.base.multiply(k));
};

const random = createScalars(20_261_121n);
const EDGES = [0n, 1n, R - 1n, 2n, R - 2n, (R - 1n) / 2n, (R + 1n) / 2n, 1n << 64n, 1n << 253n];

const scalarKinds: Record<string, (index: number) => bigint> = {
  random: () => random(),
  'all 0': () => 0n,
  'all 1': () => 1n,
  'all r-1': () => R - 1n,
  'powers of two': (index) => (1n << BigInt(index % 254)) % R,
  'one that is not 0': (index) => (index === 0 ? 123_456_789n ** 7n % R : 0n),
  edges: (index) => EDGES[index % EDGES.length] ?? 0n,
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

  const load = (group: Group, factors: readonly bigint[]) => {
    const encoded = new Map<bigint, Buffer>();
    const bytes = Buffer.concat(
      factors.map((factor) => {
        const known = encoded.get(factor) ?? encodeMultiple(group, factor);
        encoded.set(factor, known);
        return known;
      }),
    );
    const size = bytes.length / factors.length;
    return kernels.loadPoints(group, factors.length, (start, count, into) => {
      into.set(bytes.subarray(start * size, (start + count) * size));
      return Promise.resolve();
    });
  };

  const check = async (group: Group, points: readonly bigint[], scalars: readonly bigint[]) => {
    const table = await load(group, points);
    const vector = await kernels.loadScalars(
      scalars.length,
      Buffer.concat(scalars.map((scalar) => bytesOf(scalar))),
    );
    const sum = await kernels.computeMsm(table, vector);
    const expected = points.reduce((total, point, i) => total + point * (scalars[i] ?? 0n), 0n);
    expect(Buffer.from(sum).toString('hex')).toBe(encodeMultiple(group, expected).toString('hex'));
    table.release();
    vector.release();
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
      const scalars = [...EDGES, ...Array.from({ length: 8 }, random)];
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
