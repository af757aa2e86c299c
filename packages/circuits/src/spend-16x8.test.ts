/**
 * The larger spend circuit from its pinned artifacts to a verified proof. Its key takes a minute to make, and the proof by snarkjs
 * minutes: full runs only.
 */
import { dirname, join } from 'node:path';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { groth16, type MemoryFile, wtns } from 'snarkjs';
import { afterAll, describe, expect, it } from 'vitest';
import { findBrokenConstraints } from '../test/constraints.ts';
import { readSpendVector, spendVectors } from '../test/spend-vector.ts';
import { computeWitness, endSnarkjsThreads } from '../test/witness.ts';
import { createArtifactStore } from './artifacts/artifact-store.ts';
import { readR1cs } from './constraints/r1cs.ts';
import { verificationKeys } from './generated/verification-keys.ts';

const isFullRun = process.env['POOL_TEST_FULL'] === '1';

afterAll(endSnarkjsThreads);

describe.skipIf(!isFullRun)('spend-16x8', () => {
  const inputs = spendVectors
    .filter(({ circuit }) => circuit === 'spend-16x8')
    .map((vector) => {
      const walletY = secp256k1.Point.fromHex(vector.manifest.walletPub.slice(2)).toAffine().y;
      return readSpendVector(vector, walletY);
    });

  it('accepts the shared vectors, and makes a proof of 16 notes and 7 payees that snarkjs verifies', async () => {
    const store = createArtifactStore({ keyForm: 'standard' });
    const artifacts = await store.ensureArtifacts('spend-16x8');
    const constraints = await store.ensureConstraints('spend-16x8');
    const r1cs = readR1cs(constraints);
    const compiled = join(dirname(constraints), 'circuit.wasm');
    expect(inputs).toHaveLength(2);
    for (const input of inputs) {
      const witness = await computeWitness(artifacts.wasm, input);
      expect(findBrokenConstraints(r1cs, witness)).toEqual([]);
      expect(witness).toEqual(await computeWitness(compiled, input));
    }
    const [first] = inputs;
    const witness: MemoryFile = { type: 'mem' };
    await wtns.calculate(first, artifacts.wasm, witness);
    const { proof, publicSignals } = await groth16.prove(artifacts.zkey, witness);
    expect(publicSignals).toEqual([first?.D, first?.z, first?.y].map(String));
    const key = verificationKeys['spend-16x8'];
    expect(await groth16.verify(key, publicSignals, proof)).toBe(true);
    expect(await groth16.verify(key, publicSignals.with(1, '5'), proof)).toBe(false);
  }, 1_800_000);
});
