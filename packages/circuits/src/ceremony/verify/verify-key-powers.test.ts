/** Powers of tau that were changed. */
import { bn254 } from '@noble/curves/bn254.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { small } from '../../../test/ceremony-circuits.ts';
import {
  type CeremonyFolder,
  createCeremonyFolder,
  flipAt,
  negateAt,
  sectionOf,
} from '../../../test/ceremony-folder.ts';
import { sample } from '../../../test/fund-batch.ts';
import { rootOf, scalePoints, shiftPoints } from '../../../test/poisoned-powers.ts';
import { createPowersOfTau } from '../../../test/powers-of-tau.ts';
import { pointOutsideSubgroup } from '../../../test/twist-points.ts';
import { compileTest } from '../../../test/witness.ts';
import { openPowersOfTau } from '../files/powers-of-tau.ts';
import { createKernelArithmetic, type PointArithmetic } from '../points/point-sums.ts';
import { encodeG2 } from '../points/points.ts';
import { findPowersProblems } from './verify-key.ts';

const isFullRun = process.env['POOL_TEST_FULL'] === '1';
const powers = { tau: sample('tau'), alpha: sample('alpha'), beta: sample('beta') };
let kernels: PointArithmetic;
let at: CeremonyFolder;
beforeAll(async () => {
  kernels = await createKernelArithmetic();
  at = await createCeremonyFolder(kernels);
  await at.write('c.r1cs', (await compileTest(small)).r1csBytes);
  await at.write('p.ptau', createPowersOfTau(powers, 4));
  await at.init('c.r1cs', 'p.ptau', '0.zkey');
  await at.contribute('0.zkey', 'one.zkey');
});
afterAll(async () => {
  await at.remove();
  await kernels.close();
});

const beaconExponent = 3;

/** Sections that are wrong in a changed file, as the messages name them. */
async function wrongAfter(
  id: number,
  change: (section: Buffer) => void,
  exponent: number = beaconExponent,
) {
  await at.spoil('p.ptau', 'changed.ptau', id, change);
  const file = await openPowersOfTau(at.path('changed.ptau'));
  try {
    const problems = await findPowersProblems(file, exponent, kernels);
    expect(problems.every(({ code }) => code === 'ptau_inconsistent')).toBe(true);
    return problems.map(({ message }) => Number(/Section (\d+)/.exec(message)?.[1]));
  } finally {
    await file.close();
  }
}

describe('powers of tau', () => {
  it('are accepted if they were not changed', async () => {
    expect(await wrongAfter(2, () => {})).toEqual([]);
  });
});

describe('powers of tau are refused', () => {
  it.each([
    [2, 0],
    [2, 5],
    [2, 14],
    [4, 3],
    [5, 0],
    [12, 7 + 2],
    [12, 15 + 3],
    [14, 7 + 1],
    [15, 7 + 6],
  ])('with another point in section %i, place %i', async (id, place) => {
    expect(await wrongAfter(id, negateAt(64 * place))).toContain(id);
  });

  it('with another tau or beta in G2', async () => {
    const five = encodeG2(bn254.G2.Point.BASE.multiply(5n));
    for (const [id, place] of [
      [3, 128],
      [6, 0],
    ] as const) {
      const wrong = await wrongAfter(id, (section) => five.copy(section, place));
      expect(wrong.length).toBeGreaterThan(0);
    }
  });

  it('with another basis in G2', async () => {
    const wrong = await wrongAfter(13, (section) => {
      const basis = section.subarray(7 * 128);
      basis.copy(basis, 128, 0, 128);
    });
    expect(wrong).toEqual([13]);
  });

  it('when a key begun from them is verified', async () => {
    await at.spoil('p.ptau', 'begun.ptau', 14, negateAt(64 * (7 + 1)));
    await at.init('c.r1cs', 'begun.ptau', 'begun-0.zkey');
    await at.contribute('begun-0.zkey', 'begun.zkey');
    const problems = await at.problemsOf('begun.zkey', 'c.r1cs', 'begun.ptau');
    expect(problems).toEqual(['ptau_inconsistent']);
  });

  it('with a point off the curve, or too few rows, and begin no key', async () => {
    await at.spoil('p.ptau', 'off.ptau', 14, flipAt(7 * 64));
    await expect(at.init('c.r1cs', 'off.ptau', 'x.zkey')).rejects.toMatchObject({
      code: 'artifact_malformed',
    });
    await at.write('small.ptau', createPowersOfTau({ tau: 2n, alpha: 3n, beta: 5n }, 2));
    await expect(at.init('c.r1cs', 'small.ptau', 'x.zkey')).rejects.toMatchObject({
      code: 'artifact_malformed',
    });
  });

  it('with a point of the twist outside the subgroup, and begin no key', async () => {
    const outside = encodeG2(pointOutsideSubgroup(1n));
    await at.spoil('p.ptau', 'outside.ptau', 13, (section) => outside.copy(section, 128 * (7 + 3)));
    await expect(at.init('c.r1cs', 'outside.ptau', 'x.zkey')).rejects.toMatchObject({
      code: 'artifact_malformed',
      message: expect.stringContaining('subgroup'),
    });
    // The verifier detects it with a key from the valid file.
    const problems = await at.problemsOf('one.zkey', 'c.r1cs', 'outside.ptau');
    expect(problems).toContain('ptau_inconsistent');
  });

  it('if they are cut off', async () => {
    const ptau = await at.read('p.ptau');
    expect(sectionOf(ptau, 2).length).toBe(64 * 31);
    await at.write('cut.ptau', ptau.subarray(0, ptau.length - 64));
    await expect(at.verify('one.zkey', 'c.r1cs', 'cut.ptau')).rejects.toMatchObject({
      code: 'artifact_malformed',
    });
  });
});

// Errors along a pattern: multiples that follow the powers of a root of unity, or of tau, cancel in sums whose weights satisfy a linear
// relation. The doubled basis: only its odd elements reach a key.
describe.each(isFullRun ? [3, 4] : [3])(
  'powers of tau for 2^%i rows are refused with a pattern added to',
  (exponent) => {
    const size = 2 ** exponent;
    const { Fr } = bn254.fields;
    it.each([
      ['the powers', 2, 'g1', 0, 2 * size - 1],
      ['the powers times alpha', 4, 'g1', 0, size],
      ['the powers times beta', 5, 'g1', 0, size],
      ['the basis', 12, 'g1', size - 1, size],
      ['the basis in G2', 13, 'g2', size - 1, size],
      ['the basis times alpha', 14, 'g1', size - 1, size],
      ['the basis times beta', 15, 'g1', size - 1, size],
      ['the doubled basis', 12, 'g1', 2 * size - 1, 2 * size],
    ] as const)('%s', async (what, id, group, first, count) => {
      const isDoubled = what === 'the doubled basis';
      const root = rootOf(isDoubled ? exponent + 1 : exponent);
      const multiples = [
        ...[0, 1, count - 1].map((degree) => (j: number) => Fr.pow(root, BigInt(degree * j))),
        // Another alpha or beta: the basis that goes with it is missing.
        (j: number) => Fr.pow(powers.tau, BigInt(j)),
      ];
      for (const multiple of multiples) {
        const ofKey = (j: number) => (isDoubled && j % 2 === 0 ? 0n : multiple(j));
        const change = shiftPoints(group, first, count, ofKey);
        expect(await wrongAfter(id, change, exponent)).not.toEqual([]);
      }
      const scale = scalePoints(group, first, count, () => 7n);
      expect(await wrongAfter(id, scale, exponent)).not.toEqual([]);
    });
  },
);
