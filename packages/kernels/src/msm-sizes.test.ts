// Sums near the sizes where lists, batches of additions and parts of a table end, and multiples near the sizes of their tasks.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bytesOf,
  createScalars,
  encodeMultiple,
  loadMultiples,
  R,
  sumBoth,
} from '../test/curve-oracle.ts';
import type { Group } from './curve/points.ts';
import { createKernels, type Kernels } from './kernels.ts';

const random = createScalars(7n);
/** Points that repeat, cancel each other and are at infinity. */
function factorOf(index: number): bigint {
  return [3n, -3n, 5n, 5n, 0n, 8n, R - 8n, 11n][index % 8] ?? 0n;
}
function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

let kernels: Kernels;
beforeAll(async () => {
  kernels = await createKernels({ threads: 2, maximumBytes: 2 ** 30 });
});
afterAll(() => kernels.close());

async function check(group: Group, points: readonly bigint[], scalars: readonly bigint[]) {
  const { sum, expected } = await sumBoth(kernels, group, points, scalars);
  expect(sum).toBe(expected);
}

describe.each(['g1', 'g2'] as const)('in %s', (group) => {
  // A batch has 1024 additions, so 2048 points in one bucket fill exactly one batch.
  describe.each([2047, 2048, 2049, 2050])('%i points', (count) => {
    it.each<[string, (index: number) => bigint]>([
      ['all 0', () => 0n],
      ['all 1', () => 1n],
      ['all r-1', () => R - 1n],
      ['powers of two', (index) => (1n << BigInt(index % 254)) % R],
      ['one that is not zero', (index) => (index === 2046 ? R - 12_345n : 0n)],
      ['random', () => random()],
    ])('with scalars %s', async (_name, at) => {
      await check(group, range(count).map(factorOf), range(count).map(at));
      await check(group, new Array<bigint>(count).fill(1n), range(count).map(at));
    });
  });

  it('starts at any scalar, and refuses to read beyond the end', async () => {
    const scalars = range(100).map(() => random());
    const bytes = Buffer.concat(scalars.map((scalar) => bytesOf(scalar)));
    const vector = await kernels.loadScalars(100, bytes);
    const table = await loadMultiples(kernels, group, [2n, 9n, -4n]);
    for (const firstScalar of [0, 1, 50, 97]) {
      const sum = await kernels.computeMsm(table, vector, { firstScalar });
      const [x = 0n, y = 0n, z = 0n] = scalars.slice(firstScalar);
      const expected = encodeMultiple(group, 2n * x + 9n * y - 4n * z);
      expect(Buffer.from(sum).equals(expected)).toBe(true);
    }
    for (const firstScalar of [98, -1]) {
      await expect(kernels.computeMsm(table, vector, { firstScalar })).rejects.toMatchObject({
        code: 'input_refused',
      });
    }
    table.release();
    vector.release();
  });

  it('sums two tables at once, and refuses tables that do not fit', async () => {
    for (const [first, second] of [
      [1, 1],
      [3, 40],
      [2047, 3],
    ] as const) {
      const scalars = range(first + second).map(() => random());
      const bytes = Buffer.concat(scalars.map((scalar) => bytesOf(scalar)));
      const vector = await kernels.loadScalars(scalars.length, bytes);
      const factors = range(first + second).map(factorOf);
      // The second table is before the first one in memory.
      const later = await loadMultiples(kernels, group, factors.slice(first));
      const earlier = await loadMultiples(kernels, group, factors.slice(0, first));
      const sum = await kernels.computeJointMsm([
        { points: earlier, scalars: vector },
        { points: later, scalars: vector, firstScalar: first },
      ]);
      const expected = factors.reduce(
        (total, factor, i) => total + factor * (scalars[i] ?? 0n),
        0n,
      );
      expect(Buffer.from(sum).equals(encodeMultiple(group, expected))).toBe(true);
      const other = await loadMultiples(kernels, group === 'g1' ? 'g2' : 'g1', [2n]);
      for (const term of [
        { points: later, scalars: vector, firstScalar: first + 1 },
        { points: other, scalars: vector },
      ]) {
        await expect(
          kernels.computeJointMsm([{ points: earlier, scalars: vector }, term]),
        ).rejects.toMatchObject({ code: 'input_refused' });
      }
      for (const resident of [later, earlier, other, vector]) resident.release();
    }
  });

  it.each([1, 2, 3, 511, 512, 513])(
    'multiplies %i points, each by its own scalar',
    async (count) => {
      const edges = [0n, 1n, R - 1n, 2n, 255n, 256n, (1n << 253n) + 1n, R - 256n];
      const scalars = range(count).map((index) => edges[index % edges.length] ?? 0n);
      const bytes = Buffer.concat(scalars.map((scalar) => bytesOf(scalar)));
      const known = new Map(edges.map((scalar) => [scalar, encodeMultiple(group, scalar)]));
      const expected = Buffer.concat(scalars.map((scalar) => known.get(scalar) ?? Buffer.alloc(0)));
      const fromTable = await kernels.multiplyGenerator(group, bytes);
      expect(Buffer.from(fromTable).equals(expected)).toBe(true);
      const generators = Buffer.concat(scalars.map(() => encodeMultiple(group, 1n)));
      const stepwise = await kernels.multiplyPoints(group, generators, bytes);
      expect(Buffer.from(stepwise).equals(expected)).toBe(true);
    },
  );
});

it('sums tables of more than one part', async () => {
  const count = 131_073;
  await check('g1', range(count).map(factorOf), new Array<bigint>(count).fill(1n));
  await check(
    'g1',
    range(count).map(factorOf),
    range(count).map((index) => (index % 3 === 0 ? random() : BigInt(index % 2))),
  );
});

it('sums two tables of more than one part', async () => {
  const [first, second] = [70_000, 100_000];
  const scalars = range(first + second).map((index) =>
    index % 5 === 0 ? random() : BigInt(index % 3),
  );
  const bytes = Buffer.concat(scalars.map((scalar) => bytesOf(scalar)));
  const vector = await kernels.loadScalars(scalars.length, bytes);
  const factors = range(first + second).map(factorOf);
  // In memory, the second table does not follow the first one.
  const later = await loadMultiples(kernels, 'g1', factors.slice(first));
  const earlier = await loadMultiples(kernels, 'g1', factors.slice(0, first));
  const sum = await kernels.computeJointMsm([
    { points: earlier, scalars: vector },
    { points: later, scalars: vector, firstScalar: first },
  ]);
  const expected = factors.reduce((total, factor, i) => total + factor * (scalars[i] ?? 0n), 0n);
  expect(Buffer.from(sum).equals(encodeMultiple('g1', expected))).toBe(true);
});
