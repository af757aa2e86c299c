import { bn254 } from '@noble/curves/bn254.js';
import { describe, expect, it } from 'vitest';
import { R, sample } from '../../test/fund-batch.ts';
import type { GroupName } from './affine-groups.ts';
import { computePoints } from './compute-points.ts';
import { chooseWindowBits, createFixedBase, pointBytes } from './fixed-base.ts';

const { Fp } = bn254.fields;
const factor = Fp.inv((1n << 256n) % Fp.ORDER);

const decode = (bytes: Uint8Array, group: GroupName): string[] => {
  const size = pointBytes(group);
  return Array.from({ length: bytes.length / size }, (_, i) =>
    Array.from({ length: size / 32 }, (_unused, c) => {
      const start = i * size + 32 * c;
      const little = Buffer.from(bytes.slice(start, start + 32)).reverse();
      return Fp.mul(BigInt(`0x${little.toString('hex')}`), factor);
    }).join(),
  );
};

const expected = (scalar: bigint, group: GroupName): string => {
  if (scalar === 0n) return group === 'G1' ? '0,0' : '0,0,0,0';
  if (group === 'G1') {
    const { x, y } = bn254.G1.Point.BASE.multiply(scalar).toAffine();
    return [x, y].join();
  }
  const { x, y } = bn254.G2.Point.BASE.multiply(scalar).toAffine();
  return [x.c0, x.c1, y.c0, y.c1].join();
};

const encode = (scalars: readonly bigint[]): Uint8Array =>
  Buffer.concat(scalars.map((s) => Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse()));

/** Zero, units, window borders (where the signed digit carries), the top of the field, and arbitrary ones. */
const corners = (bits: number): bigint[] => [
  ...[0n, 1n, 2n, 3n, R - 1n, R - 2n, (R + 1n) / 2n, (R - 1n) / 2n],
  ...[bits - 1, bits, 2 * bits, 2 * bits - 1, 253].flatMap((shift) => {
    const power = 1n << BigInt(shift);
    return [power - 1n, power, power + 1n];
  }),
  ...Array.from({ length: 8 }, (_, i) => sample(`scalar ${i}`)),
];

describe('fixed-base multiplication against noble-curves', () => {
  it.each([
    ['G1', 4],
    ['G1', 7],
    ['G1', 10],
    ['G2', 4],
    ['G2', 7],
  ] as const)('%s with windows of %i bits', async (group, bits) => {
    const scalars = corners(bits);
    const output = new Uint8Array(scalars.length * pointBytes(group));
    (await createFixedBase(group, bits))(encode(scalars), output);
    expect(decode(output, group)).toEqual(scalars.map((scalar) => expected(scalar, group)));
  });

  it('on all cores, over several chunks, in order', async () => {
    const scalars = Array.from({ length: 5000 }, (_, i) => sample(`job ${i}`));
    const done: number[] = [];
    const points = decode(
      await computePoints('G1', encode(scalars), { onProgress: (count) => done.push(count) }),
      'G1',
    );
    for (const i of [0, 1, 2047, 2048, 4095, 4096, 4999]) {
      expect(points[i]).toBe(expected(scalars[i] ?? 0n, 'G1'));
    }
    expect(done.at(-1)).toBe(5000);
  });

  it('ends when aborted', async () => {
    const abort = new AbortController();
    const scalars = Array.from({ length: 20_000 }, (_, i) => BigInt(i + 1) ** 20n % R);
    const points = computePoints('G2', encode(scalars), { signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(points).rejects.toThrow('enough');
  });
});

describe('the window', () => {
  it('grows with the number of multiples', () => {
    const sizes = [10, 1000, 100_000, 1_000_000].map(chooseWindowBits);
    expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
    expect(new Set(sizes).size).toBeGreaterThan(2);
  });
});
