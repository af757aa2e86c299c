/** A proof that the prover makes during this test settles at the real contracts, and only unchanged. */
import { createArtifactStore } from '@pool/circuits';
import { createProver } from '@pool/prover';
import { startAnvil } from '@pool/testkit';
import { JsonRpcProvider } from 'ethers';
import { expect, it } from 'vitest';
import { decodeRevert } from '../../src/calls/decode-revert.ts';
import { createGasScene, findProof, measureFund, type ProofVector } from '../gas/scene.ts';
import { proveBatch } from './prove-batch.ts';

it('the Solidity verifier accepts a fresh proof of fund-16', async () => {
  const prover = createProver({
    artifacts: createArtifactStore({ keyForm: 'compact' }),
    accelerator: 'cpu',
  });
  const anvil = await startAnvil();
  const provider = new JsonRpcProvider(anvil.rpcUrl, undefined, { cacheTimeout: -1 });
  try {
    const fresh: ProofVector = await proveBatch(prover, 16);
    expect(prover.accelerator.detail).toMatch(/^WebAssembly, \d+ threads?/);
    // The same batch with a new proof: its blinding is random.
    const committed = findProof('fund-16');
    expect(fresh.batch).toEqual(committed.batch);
    expect(fresh.proof.a).not.toEqual(committed.proof.a);

    const scene = await createGasScene(provider);
    expect(await measureFund(scene, fresh)).toBeGreaterThan(200_000n);
    const mixed = { ...fresh, proof: { ...fresh.proof, c: committed.proof.c } };
    const refusal: unknown = await measureFund(scene, mixed).catch((error: unknown) => error);
    expect(decodeRevert(refusal).code).toBe('invalid-proof');
  } finally {
    provider.destroy();
    await anvil.stop();
    await prover.close();
  }
});
