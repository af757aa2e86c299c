/**
 * Powers of tau whose maker changed the doubled Lagrange basis along the one direction that honest proofs never
 * use. Honest proofs verify under such a key, and so do proofs that the maker invents.
 */
import { bn254 } from '@noble/curves/bn254.js';
import * as snarkjs from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createChain, small } from '../../test/ceremony-circuits.ts';
import {
  type CeremonyFolder,
  createCeremonyFolder,
  sectionOf,
} from '../../test/ceremony-folder.ts';
import { sample } from '../../test/fund-batch.ts';
import {
  choosePoison,
  poisonDoubledBasis,
  rootOf,
  shiftPoints,
  sumOfUnusedPower,
} from '../../test/poisoned-powers.ts';
import { createPowersOfTau } from '../../test/powers-of-tau.ts';
import { compileTest, endSnarkjsThreads } from '../../test/witness.ts';
import { openPowersOfTau } from './files/powers-of-tau.ts';
import { exportVerificationKey } from './key/export-verifier.ts';
import { createKernelArithmetic, type PointArithmetic } from './points/point-sums.ts';
import { decodeG1 } from './points/points.ts';
import { findPowersProblems } from './verify/verify-key.ts';

const isFullRun = process.env['POOL_TEST_FULL'] === '1';
const { groth16, powersOfTau, curves, wtns } = snarkjs;
const { Fr } = bn254.fields;
const powers = { tau: sample('tau'), alpha: sample('alpha'), beta: sample('beta') };

let kernels: PointArithmetic;
beforeAll(async () => {
  kernels = await createKernelArithmetic();
});
afterAll(async () => {
  await kernels.close();
  await endSnarkjsThreads();
});

function pointAt(section: Buffer, place: number) {
  return decodeG1(section.subarray(64 * place, 64 * place + 64));
}

describe.each([
  ['2^3 rows', small, { a: 12n, b: 34n, d: 5n }, 3, 3],
  ['2^3 rows, in a file for more', small, { a: 12n, b: 34n, d: 5n }, 3, 4],
  ...(isFullRun ? [['2^4 rows', createChain(10), { x: 12n, y: 34n }, 4, 4] as const] : []),
] as const)('a poisoned basis for %s', (_what, source, input, exponent, power) => {
  let at: CeremonyFolder;
  beforeAll(async () => {
    at = await createCeremonyFolder(kernels);
    const circuit = await compileTest(source);
    await at.write('c.r1cs', circuit.r1csBytes);
    await at.write('c.wasm', circuit.wasm);
    await at.write('p.ptau', createPowersOfTau(powers, power));
    await at.init('c.r1cs', 'p.ptau', 'clean-0.zkey');
    // The point of the first public signal: adding it to C changes that signal, which is the purpose of the attack.
    const wanted = pointAt(sectionOf(await at.read('clean-0.zkey'), 3), 1);
    const poison = choosePoison(exponent, sectionOf(await at.read('p.ptau'), 12), wanted);
    await at.spoil('p.ptau', 'bad.ptau', 12, poisonDoubledBasis(exponent, poison));
    await at.init('c.r1cs', 'bad.ptau', 'bad-0.zkey');
    await at.contribute('bad-0.zkey', 'bad.zkey');
  });
  afterAll(() => at.remove());

  it('lets its maker forge proofs, while correct proofs verify', async () => {
    const key = await exportVerificationKey(at.path('bad.zkey'));
    const witness = { type: 'mem' as const };
    await wtns.calculate(input, at.path('c.wasm'), witness);
    const { proof, publicSignals } = await groth16.prove(at.path('bad.zkey'), witness);
    expect(await groth16.verify(key, publicSignals, proof)).toBe(true);

    const quotient = sectionOf(await at.read('bad.zkey'), 9);
    const stolen = sumOfUnusedPower(exponent, (j) => pointAt(quotient, j >> 1));
    const honest = proof as { readonly pi_c: readonly string[] };
    const [x = '', y = ''] = honest.pi_c;
    const c = bn254.G1.Point.fromAffine({ x: BigInt(x), y: BigInt(y) });
    const gain = 1_000_000n;
    const forged = c.subtract(stolen.multiply(gain)).toAffine();
    const forgedProof = { ...honest, pi_c: [String(forged.x), String(forged.y), '1'] };
    const forgedSignals = publicSignals.with(
      0,
      String(Fr.add(BigInt(publicSignals[0] ?? ''), gain)),
    );
    expect(await groth16.verify(key, forgedSignals, forgedProof)).toBe(true);
    expect(await groth16.verify(key, forgedSignals, proof)).toBe(false);
  });

  it('is refused, and the correct basis is accepted', async () => {
    expect(await at.problemsOf('bad.zkey', 'c.r1cs', 'bad.ptau')).toEqual(['ptau_inconsistent']);
    await at.contribute('clean-0.zkey', 'clean.zkey');
    expect(await at.problemsOf('clean.zkey')).toEqual([]);
  });
});

describe.each(isFullRun ? [3, 4] : [3])("snarkjs' own powers of tau for 2^%i rows", (power) => {
  let at: CeremonyFolder;
  beforeAll(async () => {
    at = await createCeremonyFolder(kernels);
    const curve = await curves.getCurveFromName('bn128');
    await powersOfTau.newAccumulator(curve, power, at.path('new'));
    await powersOfTau.contribute(at.path('new'), at.path('one'), 'they', 'entropy');
    await powersOfTau.preparePhase2(at.path('one'), at.path('p.ptau'));
  });
  afterAll(() => at.remove());
  const problemsOf = async (name: string) => {
    const file = await openPowersOfTau(at.path(name));
    try {
      return (await findPowersProblems(file, power, kernels)).map(({ code }) => code);
    } finally {
      await file.close();
    }
  };

  it('are accepted, and refused when the odd elements are poisoned', async () => {
    expect(await problemsOf('p.ptau')).toEqual([]);
    const change = poisonDoubledBasis(power, bn254.G1.Point.BASE.multiply(5n));
    await at.spoil('p.ptau', 'odd.ptau', 12, change);
    expect(await problemsOf('odd.ptau')).toEqual(['ptau_inconsistent']);
    expect(await powersOfTau.verify(at.path('odd.ptau'))).toBe(false);
  });

  it('are refused when all elements are poisoned, which snarkjs itself does not notice', async () => {
    const [size, root] = [2 * 2 ** power, rootOf(power + 1)];
    const change = shiftPoints('g1', size - 1, size, (j) => Fr.pow(root, BigInt(j)));
    await at.spoil('p.ptau', 'all.ptau', 12, change);
    expect(await problemsOf('all.ptau')).toEqual(['ptau_inconsistent']);
    expect(await powersOfTau.verify(at.path('all.ptau'))).toBe(true);
  });
});
