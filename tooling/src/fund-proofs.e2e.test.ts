// Whole proofs of the circuits that are deployed, by the prover's own engine under the keys of the circuits' cache, verified by
// snarkjs. On the processor. @pool/prover compares the results of a graphics device with those of the processor.
import { createArtifactStore } from '@pool/circuits';
import { createProver, type ProofStage } from '@pool/prover';
import { groth16 } from 'snarkjs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createBatch, R, toInput } from '../../packages/circuits/test/fund-batch.ts';

/** Also with fund-64, whose key alone takes minutes to make. */
const isFullRun = process.env['POOL_TEST_FULL'] === '1';
const store = createArtifactStore({ keyForm: 'compact' });
const prover = createProver({ artifacts: store, accelerator: 'cpu' });
beforeAll(async () => {
  await store.ensureArtifacts('fund-16');
  if (isFullRun) await store.ensureArtifacts('fund-64');
});
afterAll(async () => {
  await prover.close();
  const { curve_bn128: curve } = globalThis as { curve_bn128?: { terminate(): Promise<void> } };
  await curve?.terminate();
});

const input16 = toInput(createBatch(16, 11));
function signalsOf({ D, z, y }: typeof input16): string[] {
  return [D, z, y].map(String);
}

it('proofs of several batches, requested at once, pass snarkjs with their own public signals only', async () => {
  const batches = [[16, 11], [16, 16], ...(isFullRun ? [[64, 17] as const] : [])] as const;
  const proofs = await Promise.all(
    batches.map(async ([size, recipients]) => {
      const input = toInput(createBatch(size, recipients));
      const { proof, publicSignals } = await prover.prove({ circuit: `fund-${size}`, input });
      expect(publicSignals).toEqual(signalsOf(input));
      const { verificationKey } = await store.ensureArtifacts(`fund-${size}`);
      return { proof, publicSignals, verificationKey };
    }),
  );
  for (const { proof, publicSignals, verificationKey } of proofs) {
    expect(await groth16.verify(verificationKey, publicSignals, proof)).toBe(true);
    for (const i of [0, 1, 2]) {
      const other = publicSignals.with(i, String((BigInt(publicSignals[i] ?? '') + 1n) % R));
      expect(await groth16.verify(verificationKey, other, proof)).toBe(false);
    }
  }
});

it('a batch with a wrong total is refused before it is proved', async () => {
  const input = { ...input16, total: input16.total + 1n };
  await expect(prover.prove({ circuit: 'fund-16', input })).rejects.toMatchObject({
    code: 'witness_refused',
  });
});

it('an abort in each phase ends that proof and leaves the prover usable', async () => {
  const own = createProver({ artifacts: store, accelerator: 'cpu' });
  /** @returns the fraction of the stage at the time of the abort */
  const abortAt = async (at: ProofStage, from: number): Promise<number | undefined> => {
    const abort = new AbortController();
    let reached: number | undefined;
    const aborted = own.prove({
      circuit: 'fund-16',
      input: input16,
      signal: abort.signal,
      onProgress: (stage, fraction) => {
        if (stage === at && fraction >= from && reached === undefined) {
          reached = fraction;
          abort.abort();
        }
      },
    });
    await expect(aborted).rejects.toMatchObject({ code: 'proof_aborted' });
    expect(own.metrics()).toMatchObject({ running: 0, queued: 0, proofs: 0 });
    return reached;
  };
  expect(await abortAt('witness', 0)).toBe(0);
  // The key is being loaded, which is the first part of the stage while there is none.
  expect(await abortAt('proof', 0.05)).toBeLessThan(0.4);
  expect(own.metrics().residentKeys).toBe(0);
  // In the sums: the key is in memory from then on, and the quotient comes first.
  expect(await abortAt('proof', 0.6)).toBeLessThan(1);
  expect(own.metrics().residentKeys).toBe(1);
  expect(await abortAt('proof', 0.02)).toBeLessThan(0.2);
  expect(await abortAt('verify', 0)).toBe(0);
  const { proof, publicSignals } = await own.prove({ circuit: 'fund-16', input: input16 });
  const { verificationKey } = await store.ensureArtifacts('fund-16');
  expect(await groth16.verify(verificationKey, publicSignals, proof)).toBe(true);
  await own.close();
});

it('a key beyond the budget is refused with the memory that it requires, before it is loaded', async () => {
  const memoryBudgetBytes = 32 * 2 ** 20;
  const poor = createProver({ artifacts: store, accelerator: 'cpu', memoryBudgetBytes });
  await expect(poor.prove({ circuit: 'fund-16', input: input16 })).rejects.toMatchObject({
    code: 'memory_budget_exceeded',
    retryable: false,
    message: expect.stringMatching(/needs about \d+ MB; the prover may use 32 MB/),
  });
  expect(poor.metrics()).toMatchObject({ residentKeys: 0, residentBytes: 0 });
  await poor.close();
});

it('two provers in one process prove at the same time, and one ends without the other', async () => {
  const options = { artifacts: store, accelerator: 'cpu', threads: 1 } as const;
  const [first, second] = [createProver(options), createProver(options)];
  const ask = () => second.prove({ circuit: 'fund-16', input: input16 });
  const both = await Promise.all([first.prove({ circuit: 'fund-16', input: input16 }), ask()]);
  await first.close();
  const { verificationKey } = await store.ensureArtifacts('fund-16');
  for (const { proof, publicSignals } of [...both, await ask()]) {
    expect(await groth16.verify(verificationKey, publicSignals, proof)).toBe(true);
  }
  await second.close();
});
