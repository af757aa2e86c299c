// A payment that fails before its release reports the cause by its code, and pays nobody.
import { Secret } from '@pool/core';
import { createLocalKeySigner, type Outcome } from '@pool/signers';
import { describe, expect, it } from 'vitest';
import { createFunder } from '../adapters/funder.ts';
import { createWorld, viewOf } from '../fixtures/fake-world.ts';

type World = Awaited<ReturnType<typeof createWorld>>;

describe('the approval', () => {
  /** Runs a payment that needs an approval, on a chain that is changed so. */
  async function runWith(change: (world: World) => Partial<World['chain']>) {
    const world = await createWorld();
    const job = await world.accept();
    const chain = { ...world.chain, ...change(world) };
    await world.run(job, undefined, { findChain: () => ({ ...world.context, chain }) });
    expect(job.record().releasedAtMs).toBeUndefined();
    return viewOf(job);
  }

  it('that reverts fails the job with approval_failed', async () => {
    const view = await runWith(({ chain }) => ({
      fetchReceipt: async (txHash) => {
        const receipt = await chain.fetchReceipt(txHash);
        return receipt === undefined ? undefined : { ...receipt, reverted: true };
      },
    }));
    expect(view).toMatchObject({ state: 'failed', error: { code: 'approval_failed' } });
  });

  it('that is never mined fails the job with approval_failed', async () => {
    const view = await runWith(() => ({ broadcast: () => Promise.resolve() }));
    expect(view).toMatchObject({ state: 'failed', error: { code: 'approval_failed' } });
  });
});

describe('a funder signer', () => {
  const localKey = createLocalKeySigner({ privateKey: new Secret(`0x${'42'.repeat(32)}`) });

  it.each<[string, Outcome]>([
    ['signer_refused', { state: 'refused', reason: 'denied', message: 'denied by policy' }],
    ['signer_expired', { state: 'expired', providerId: '1' }],
  ])('that returns no signature fails the job with %s', async (code, outcome) => {
    const world = await createWorld();
    const job = await world.accept();
    const signer = { ...localKey, submit: () => Promise.resolve(outcome) };
    const funder = await createFunder(signer);
    await world.run(job, undefined, { funder });
    expect(job.record().releasedAtMs).toBeUndefined();
    expect(viewOf(job)).toMatchObject({ state: 'failed', error: { code } });
  });
});
