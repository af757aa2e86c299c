/** What a contribution does to files, and what it refuses to touch. */
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { small } from '../../../test/ceremony-circuits.ts';
import {
  type CeremonyFolder,
  createCeremonyFolder,
  flipAt,
} from '../../../test/ceremony-folder.ts';
import { sample } from '../../../test/fund-batch.ts';
import { createNobleArithmetic } from '../../../test/noble-arithmetic.ts';
import { createPowersOfTau } from '../../../test/powers-of-tau.ts';
import { compileTest } from '../../../test/witness.ts';
import { computeFileDigest } from '../../artifacts-manifest.ts';
import { createKernelArithmetic, type PointArithmetic } from '../points/point-sums.ts';
import { contributeToKey } from './contribute.ts';
import { initialiseKey } from './initialise.ts';

let kernels: PointArithmetic;
let at: CeremonyFolder;
beforeAll(async () => {
  kernels = await createKernelArithmetic();
  at = await createCeremonyFolder(kernels);
  await at.write('c.r1cs', (await compileTest(small)).r1csBytes);
  const powers = { tau: sample('tau'), alpha: sample('alpha'), beta: sample('beta') };
  await at.write('p.ptau', createPowersOfTau(powers, 4));
  await at.init('c.r1cs', 'p.ptau', '0.zkey');
  await at.contribute('0.zkey', 'one.zkey');
});
afterAll(async () => {
  await at.remove();
  await kernels.close();
});

async function listed() {
  return (await readdir(at.folder)).sort();
}

describe('files', () => {
  it('are equal with either arithmetic', async () => {
    const paths = { r1cs: at.path('c.r1cs'), ptau: at.path('p.ptau'), out: at.path('noble.zkey') };
    const ptauSha256 = await computeFileDigest(paths.ptau);
    await initialiseKey(paths, { arithmetic: createNobleArithmetic(), ptauSha256 });
    expect(await at.read('noble.zkey')).toEqual(await at.read('0.zkey'));
  });

  it('are not replaced without the option to replace', async () => {
    const [before, names] = [await at.read('one.zkey'), await listed()];
    await expect(at.contribute('0.zkey', 'one.zkey')).rejects.toMatchObject({
      code: 'invalid_option',
    });
    expect(await at.read('one.zkey')).toEqual(before);
    expect(await listed()).toEqual(names);
  });

  it('are not left incomplete by an abort at any point', async () => {
    const names = await listed();
    const steps: number[] = [];
    const paths = { in: at.path('one.zkey'), out: at.path('never.zkey') };
    for (const end of [0, 1]) {
      const abort = new AbortController();
      const onProgress = () => {
        steps.push(end);
        abort.abort(new Error('enough'));
      };
      if (end === 0) {
        abort.abort(new Error('enough'));
      }
      await expect(
        contributeToKey(paths, { arithmetic: kernels, signal: abort.signal, onProgress }),
      ).rejects.toThrow('enough');
    }
    // The second one was in the middle of its work.
    expect(steps.length).toBeGreaterThan(0);
    expect(new Set(steps)).toEqual(new Set([1]));
    const begin = { r1cs: at.path('c.r1cs'), ptau: at.path('p.ptau'), out: at.path('never.zkey') };
    const signal = AbortSignal.abort(new Error('enough'));
    const ptauSha256 = await computeFileDigest(begin.ptau);
    await expect(initialiseKey(begin, { arithmetic: kernels, signal, ptauSha256 })).rejects.toThrow(
      'enough',
    );
    expect(await listed()).toEqual(names);
  });
});

describe('a contribution', () => {
  it('reports its progress', async () => {
    const fractions: number[] = [];
    await contributeToKey(
      { in: at.path('0.zkey'), out: at.path('progress.zkey') },
      { arithmetic: kernels, onProgress: (fraction) => fractions.push(fraction) },
    );
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    expect(fractions.at(-1)).toBeGreaterThan(0.5);
  });

  it.each([
    [8, 'private'],
    [9, 'quotient'],
  ])('never multiplies a point of section %i that is off the curve', async (id) => {
    const name = await at.spoil('one.zkey', `off-${id}.zkey`, id, flipAt(0));
    await expect(at.contribute(name, 'leak.zkey')).rejects.toMatchObject({
      code: 'zkey_malformed',
      message: expect.stringContaining('not on the curve'),
    });
    expect(await listed()).not.toContain('leak.zkey');
  });
});
