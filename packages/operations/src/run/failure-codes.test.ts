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
    const changed = change(world);
    const chain = new Proxy(world.chain, {
      get: (target, name) => Reflect.get({ ...changed }, name) ?? Reflect.get(target, name),
    });
    await world.run(job, undefined, { findChain: () => ({ ...world.context, chain }) });
    return { world, job, view: viewOf(job) };
  }

  /** The allowance is another one than when the approval was asked for, as after a dropped block. */
  function revertFirst(count: number) {
    return ({ chain }: World): Partial<World['chain']> => {
      const reverted = new Set<string>();
      return {
        fetchReceipt: async (txHash) => {
          const receipt = await chain.fetchReceipt(txHash);
          if (receipt === undefined || !(reverted.has(txHash) || reverted.size < count)) {
            return receipt;
          }
          if (!reverted.has(txHash)) chain.allowance = 0n;
          reverted.add(txHash);
          return { ...receipt, reverted: true };
        },
      };
    };
  }

  it('that reverts is asked for again, and the payment is paid once', async () => {
    const { world, view } = await runWith(revertFirst(2));
    expect(view.state).toBe('done');
    expect(world.chain.approvals).toHaveLength(3);
    expect(world.chain.funds).toBe(1);
  });

  it('that reverts three times fails the job with approval_failed', async () => {
    const { job, view } = await runWith(revertFirst(3));
    expect(view).toMatchObject({ state: 'failed', error: { code: 'approval_failed' } });
    expect(job.record().releasedAtMs).toBeUndefined();
    expect(job.record().approvals.filter(({ reverted }) => reverted)).toHaveLength(3);
  });

  it('that is never mined fails the job with approval_failed', async () => {
    const { job, view } = await runWith(() => ({ broadcast: () => Promise.resolve() }));
    expect(job.record().releasedAtMs).toBeUndefined();
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
