/** Ceremonies against snarkjs, both ways: what one tool writes, the other checks and continues. */
import { createKernels, type Kernels } from '@pool/kernels';
import * as snarkjs from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChain, small } from '../../test/ceremony-circuits.ts';
import {
  type CeremonyFolder,
  createCeremonyFolder,
  testBeacon,
} from '../../test/ceremony-folder.ts';
import { sample } from '../../test/fund-batch.ts';
import { createLargePowersOfTau, createPowersOfTau } from '../../test/powers-of-tau.ts';
import { compileTest, endSnarkjsThreads } from '../../test/witness.ts';
import { exportVerificationKey } from './key/export-verifier.ts';
import { createKernelArithmetic, type PointArithmetic } from './points/point-sums.ts';

const { groth16, powersOfTau, curves, wtns, zKey } = snarkjs;

const powers = { tau: sample('tau'), alpha: sample('alpha'), beta: sample('beta') };
let kernels: PointArithmetic;
let fast: Kernels;
const folders: CeremonyFolder[] = [];

/** A folder with a circuit and its initial key, made by us and by snarkjs. */
async function begin(source: string, ptau: Uint8Array): Promise<CeremonyFolder> {
  const at = await createCeremonyFolder(kernels);
  folders.push(at);
  const circuit = await compileTest(source);
  await at.write('c.r1cs', circuit.r1csBytes);
  await at.write('c.wasm', circuit.wasm);
  await at.write('p.ptau', ptau);
  await at.init('c.r1cs', 'p.ptau', 'ours-0.zkey');
  await zKey.newZKey(at.path('c.r1cs'), at.path('p.ptau'), at.path('theirs-0.zkey'));
  return at;
}
function acceptedBySnarkjs(at: CeremonyFolder, zkey: string) {
  return zKey.verifyFromR1cs(at.path('c.r1cs'), at.path('p.ptau'), at.path(zkey));
}

beforeAll(async () => {
  [kernels, fast] = [await createKernelArithmetic(), await createKernels()];
});
afterAll(async () => {
  await Promise.all(folders.map((at) => at.remove()));
  await Promise.all([kernels.close(), fast.close()]);
  await endSnarkjsThreads();
});

describe('with snarkjs', () => {
  let at: CeremonyFolder;
  beforeAll(async () => {
    at = await begin(small, createPowersOfTau(powers, 4));
    await at.contribute('ours-0.zkey', 'one.zkey');
  });

  it('writes the same initial key, byte for byte', async () => {
    expect(await at.read('ours-0.zkey')).toEqual(await at.read('theirs-0.zkey'));
  });

  it("reads snarkjs' own powers of tau, up to their last row", async () => {
    const curve = await curves.getCurveFromName('bn128');
    await powersOfTau.newAccumulator(curve, 3, at.path('a.ptau'));
    await powersOfTau.contribute(at.path('a.ptau'), at.path('b.ptau'), 'x', 'entropy');
    await powersOfTau.preparePhase2(at.path('b.ptau'), at.path('real.ptau'));
    await at.init('c.r1cs', 'real.ptau', 'real-0.zkey');
    await zKey.newZKey(at.path('c.r1cs'), at.path('real.ptau'), at.path('real-theirs.zkey'));
    expect(await at.read('real-0.zkey')).toEqual(await at.read('real-theirs.zkey'));
    await at.contribute('real-0.zkey', 'real-1.zkey');
    expect(await at.problemsOf('real-1.zkey', 'c.r1cs', 'real.ptau')).toEqual([]);
    await expect(at.init('c.r1cs', 'b.ptau', 'unprepared.zkey')).rejects.toMatchObject({
      code: 'artifact_malformed',
    });
  });

  it('reads files that snarkjs cut out of larger ones', async () => {
    const curve = await curves.getCurveFromName('bn128');
    await powersOfTau.newAccumulator(curve, 4, at.path('large-a.ptau'));
    await powersOfTau.contribute(at.path('large-a.ptau'), at.path('large-b.ptau'), 'x', 'entropy');
    await powersOfTau.preparePhase2(at.path('large-b.ptau'), at.path('large.ptau'));
    await powersOfTau.truncate(at.path('large.ptau'), at.path('cut-'));
    for (const name of ['large.ptau', 'cut-03.ptau']) {
      await at.init('c.r1cs', name, `${name}-0.zkey`);
      await at.contribute(`${name}-0.zkey`, `${name}-1.zkey`);
      expect(await at.problemsOf(`${name}-1.zkey`, 'c.r1cs', name)).toEqual([]);
    }
  });

  it('agrees on contributions', async () => {
    expect(await acceptedBySnarkjs(at, 'one.zkey')).toBe(true);
    const hash = await zKey.contribute(
      at.path('theirs-0.zkey'),
      at.path('theirs-1.zkey'),
      'they',
      'entropy',
    );
    const verdict = await at.verify('theirs-1.zkey');
    expect(verdict.problems).toEqual([]);
    expect(verdict.contributions).toEqual([
      { name: 'they', type: 'secret', hash: expect.anything() },
    ]);
    expect(Buffer.from(verdict.contributions[0]?.hash ?? [])).toEqual(
      Buffer.from(hash as Uint8Array),
    );
  });

  it('writes the same beacon, byte for byte', async () => {
    await zKey.beacon(at.path('one.zkey'), at.path('theirs-b.zkey'), 'beacon', testBeacon, 10);
    await at.end('one.zkey', 'ours-b.zkey', 'beacon');
    expect(await at.read('ours-b.zkey')).toEqual(await at.read('theirs-b.zkey'));
    expect(await acceptedBySnarkjs(at, 'ours-b.zkey')).toBe(true);
    expect(await at.problemsOf('theirs-b.zkey')).toEqual([]);
    await expect(at.contribute('ours-b.zkey', 'late.zkey')).rejects.toMatchObject({
      code: 'ceremony_invalid',
    });
  });
});

// 2^6 and 2^10 rows, the public ones among them.
describe.each([
  [60, 6],
  [1000, 10],
])('with snarkjs, a circuit of %i rows', (rows, power) => {
  it('contributes in turn with snarkjs to one chain, whose key makes valid proofs', async () => {
    const ptau = await createLargePowersOfTau(powers, power, (group, scalars) =>
      fast.multiplyGenerator(group, scalars),
    );
    const at = await begin(createChain(rows), ptau);
    expect(await at.read('ours-0.zkey')).toEqual(await at.read('theirs-0.zkey'));

    await at.contribute('ours-0.zkey', 'one.zkey');
    await zKey.contribute(at.path('one.zkey'), at.path('two.zkey'), 'they', 'entropy');
    await at.contribute('two.zkey', 'three.zkey');
    await at.end('three.zkey', 'final.zkey');
    await zKey.beacon(at.path('three.zkey'), at.path('theirs.zkey'), 'theirs', testBeacon, 10);
    expect(await acceptedBySnarkjs(at, 'final.zkey')).toBe(true);
    for (const name of ['final.zkey', 'theirs.zkey']) {
      const verdict = await at.verify(name);
      expect(verdict.problems).toEqual([]);
      expect(verdict.contributions.map(({ type }) => type)).toEqual([
        'secret',
        'secret',
        'secret',
        'beacon',
      ]);
    }

    const key = await exportVerificationKey(at.path('final.zkey'));
    const theirs = await zKey.exportVerificationKey(at.path('final.zkey'));
    expect(key).toEqual(theirs);
    expect(Object.keys(key)).toEqual(Object.keys(theirs));
    const witness = { type: 'mem' as const };
    await wtns.calculate({ x: 12n, y: 34n }, at.path('c.wasm'), witness);
    const { proof, publicSignals } = await groth16.prove(at.path('final.zkey'), witness);
    expect(await groth16.verify(key, publicSignals, proof)).toBe(true);
    expect(await groth16.verify(key, ['1', ...publicSignals.slice(1)], proof)).toBe(false);
  });
});
