// An amount that the pool cannot collect is not signed: the funder's money is read again, under the lock, before its key signs.

import { createKeyLock } from '@pool/wallet';
import { describe, expect, it } from 'vitest';
import { createWorld, type World } from '../fixtures/fake-world.ts';
import { releaseName } from './job/record.ts';

/** Every call to the funder's key. */
function countSignatures(world: World) {
  const counter = { signatures: 0 };
  const { funder } = world;
  const ask: typeof funder.ask = (...args) => {
    counter.signatures += 1;
    return funder.ask(...args);
  };
  return { counter, funder: { ...funder, ask } };
}

describe('before the funder signs', () => {
  it('fails with insufficient_balance when the funder holds too little, and signs nothing [failure.insufficient-balance]', async () => {
    const world = await createWorld({ permit: true });
    const { counter, funder } = countSignatures(world);
    world.chain.balance = 5_999n;
    const job = await world.accept();
    const startedAtMs = world.clock.nowMs();
    await world.run(job, undefined, { funder });
    expect(job.record().error).toMatchObject({
      code: 'insufficient_balance',
      message: expect.stringContaining(
        'holds 0.005999 USDC (5999 base units) and the batch takes 0.006 USDC',
      ),
    });
    expect(counter.signatures).toBe(0);
    expect(world.platform.posts).toBe(0);
    expect(world.clock.nowMs() - startedAtMs).toBeLessThan(60_000);
  });

  it('counts the amount that an earlier batch of its queue has taken', async () => {
    const world = await createWorld({ permit: true, finalityBlocks: 20 });
    world.chain.balance = 10_000n;
    const turns = createKeyLock();
    const jobs = [await world.accept('one'), await world.accept('two')];
    await Promise.all(jobs.map((job) => world.run(job, undefined, { turns })));
    expect(jobs.map((job) => job.record().error?.code)).toEqual([
      undefined,
      'insufficient_balance',
    ]);
    expect(world.chain.funds).toBe(1);
  });

  it('fails with insufficient_gas when an approval is needed and the funder has no coin', async () => {
    const world = await createWorld();
    const { counter, funder } = countSignatures(world);
    world.chain.coin = 0n;
    const job = await world.accept();
    await world.run(job, undefined, { funder });
    expect(job.record().error?.code).toBe('insufficient_gas');
    expect(counter.signatures).toBe(0);
    expect(world.chain.approvals).toEqual([]);
  });

  it('needs no coin if the token has a permit', async () => {
    const world = await createWorld({ permit: true });
    world.chain.coin = 0n;
    const job = await world.accept();
    await world.run(job);
    expect(job.state()).toBe('done');
  });

  it('continues when the balance cannot be read', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    await world.run(job, undefined, {
      findChain: () => ({
        ...world.context,
        chain: { ...world.chain, fetchTokenBalance: () => Promise.reject(new Error('no')) },
      }),
    });
    expect(job.state()).toBe('done');
  });

  it('checks again in a run that continues after a crash after the signature', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    await expect(
      world.run(job, (point) => {
        if (point === 'signing.after-store') {
          throw new Error('crash');
        }
      }),
    ).rejects.toThrow('interrupted');
    expect(job.values.has(releaseName)).toBe(true);
    world.chain.balance = 1n;
    await world.run(job);
    expect(job.record().error?.code).toBe('insufficient_balance');
    expect(world.platform.posts).toBe(0);
  });
});
