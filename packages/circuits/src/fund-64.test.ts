/**
 * The larger circuits from their pinned artifacts to a verified proof. Their keys take a minute and more to make, and the proof by
 * snarkjs minutes: full runs only.
 */
import { dirname, join } from 'node:path';
import { groth16, type MemoryFile, wtns } from 'snarkjs';
import { afterAll, describe, expect, it } from 'vitest';
import { findBrokenConstraints } from '../test/constraints.ts';
import { createBatch, toInput } from '../test/fund-batch.ts';
import { computeWitness, endSnarkjsThreads } from '../test/witness.ts';
import { createArtifactStore } from './artifacts/artifact-store.ts';
import { readR1cs } from './constraints/r1cs.ts';
import { verificationKeys } from './generated/verification-keys.ts';

const isFullRun = process.env['POOL_TEST_FULL'] === '1';

afterAll(endSnarkjsThreads);

describe.skipIf(!isFullRun)('fund-64 and fund-256', () => {
  it.each([
    ['fund-64', 64, 17],
    ['fund-256', 256, 200],
  ] as const)(
    '%s has the pinned key, and makes a proof of %i slots with %i recipients that snarkjs verifies',
    async (circuit, size, recipients) => {
      const store = createArtifactStore({ keyForm: 'standard' });
      const artifacts = await store.ensureArtifacts(circuit);
      const input = toInput(createBatch(size, recipients));
      const witness: MemoryFile = { type: 'mem' };
      await wtns.calculate(input, artifacts.wasm, witness);
      const constraints = await store.ensureConstraints(circuit);
      const compiled = join(dirname(constraints), 'circuit.wasm');
      expect(await computeWitness(artifacts.wasm, input)).toEqual(
        await computeWitness(compiled, input),
      );
      const r1cs = readR1cs(constraints);
      expect(findBrokenConstraints(r1cs, await wtns.exportJson(witness))).toEqual([]);
      const { proof, publicSignals } = await groth16.prove(artifacts.zkey, witness);
      expect(publicSignals).toEqual([input.D, input.z, input.y].map(String));
      const key = verificationKeys[circuit];
      expect(await groth16.verify(key, publicSignals, proof)).toBe(true);
      const otherSignals = publicSignals.with(1, '5');
      expect(await groth16.verify(key, otherSignals, proof)).toBe(false);
    },
    1_800_000,
  );
});
