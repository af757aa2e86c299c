/** The larger circuit from its pinned artifacts to a verified proof. Its key takes about a minute to make: full runs only. */
import { groth16, type MemoryFile, wtns } from 'snarkjs';
import { afterAll, describe, expect, it } from 'vitest';
import { createBatch, toInput } from '../test/fund-batch.ts';
import { endSnarkjsThreads } from '../test/witness.ts';
import { createArtifactStore } from './artifact-store.ts';
import { verificationKeys } from './generated/verification-keys.ts';
import { findBrokenConstraints, readR1cs } from './r1cs.ts';

const isFullRun = process.env['POOL_TEST_FULL'] === '1';

afterAll(endSnarkjsThreads);

describe.skipIf(!isFullRun)('fund-64', () => {
  it('makes the pinned key, and a proof of 17 recipients that snarkjs verifies', async () => {
    const store = createArtifactStore({ keyForm: 'standard' });
    const artifacts = await store.ensureArtifacts('fund-64');
    const input = toInput(createBatch(64, 17));
    const witness: MemoryFile = { type: 'mem' };
    await wtns.calculate(input, artifacts.wasmPath, witness);
    const r1cs = readR1cs(await store.ensureConstraints('fund-64'));
    const values = await wtns.exportJson(witness);
    expect(findBrokenConstraints(r1cs, values)).toEqual([]);
    const { proof, publicSignals } = await groth16.prove(artifacts.zkeyPath, witness);
    expect(publicSignals).toEqual([input.D, input.z, input.y].map(String));
    expect(await groth16.verify(verificationKeys['fund-64'], publicSignals, proof)).toBe(true);
  }, 900_000);
});
