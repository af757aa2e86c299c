// A key for which the platform holds a settlement on other terms: another funder, pool or chain. Its batch nonce
// differs, so the contract would accept this batch too. A job must not report such a key as unpaid.
import type { SettlementRecord } from '@pool/api';
import { type EvmAddress, parseEvmAddress, Secret } from '@pool/core';
import { createLocalKeySigner } from '@pool/signers';
import { createKeyLock } from '@pool/wallet';
import { describe, expect, it } from 'vitest';
import { createFunder } from '../adapters/funder.ts';
import { createWorld, type FakeJob, viewOf, type World } from '../fixtures/fake-world.ts';
import type { ChainContext, FunderPort } from '../ports.ts';
import { cancellationName } from './job/record.ts';
import type { DisbursementDeps } from './job/run.ts';

const otherPool = parseEvmAddress('0x00000000000000000000000000000000000000b1');

const doNotResubmit = {
  code: 'settled_elsewhere',
  message: expect.stringMatching(/do not resubmit/),
};

async function createOtherFunder(): Promise<FunderPort> {
  const signer = createLocalKeySigner({ privateKey: new Secret(`0x${'43'.repeat(32)}`) });
  return createFunder(signer);
}

function withPool(world: World, pool: EvmAddress): ChainContext {
  return { ...world.context, settings: { ...world.context.settings, pool } };
}

/** The settlement that an agent with these settings posts, and whether it is mined. */
async function settleUnder(
  world: World,
  changes: Partial<DisbursementDeps>,
  lands: boolean,
): Promise<SettlementRecord> {
  world.platform.holdBack = !lands;
  const job = await world.accept('june');
  await world
    .run(
      job,
      (point) => {
        if (point === 'settling.posted') {
          throw new Error('its process is of no more interest');
        }
      },
      changes,
    )
    .catch(() => undefined);
  world.platform.holdBack = false;
  const row = world.platform.rows.get('june');
  if (row === undefined) {
    throw new Error('nothing was posted');
  }
  return row;
}

async function runJune(world: World, changes: Partial<DisbursementDeps> = {}): Promise<FakeJob> {
  const job = await world.accept('june');
  await world.run(job, undefined, changes);
  return job;
}

describe('a key that was paid on other terms', () => {
  it('is not paid again by an agent whose funder key was rotated [failure.settled-elsewhere]', async () => {
    const world = await createWorld({ permit: true });
    const row = await settleUnder(world, { funder: await createOtherFunder() }, true);
    const posts = world.platform.posts;
    const job = await runJune(world);
    expect(viewOf(job).error).toEqual(doNotResubmit);
    expect(viewOf(job).error?.message).toContain(row.txHash);
    expect(viewOf(job).error?.message).toContain(row.batch.funder);
    expect(world.platform.posts).toBe(posts);
    expect(world.prover.proofs).toBe(1);
    expect(world.chain.funds).toBe(0);
  });

  it('is not paid again by an agent that lost its store and has another pool now [failure.settled-elsewhere]', async () => {
    const world = await createWorld({ permit: true });
    await settleUnder(world, {}, true);
    const job = await runJune(world, { findChain: () => withPool(world, otherPool) });
    expect(viewOf(job).error).toEqual(doNotResubmit);
    expect(viewOf(job).error?.message).toContain('another pool');
    expect(world.prover.proofs).toBe(1);
    expect(world.chain.funds).toBe(1);
  });

  it('is not paid again on a second chain, even if the first is not configured here [failure.settled-elsewhere]', async () => {
    const world = await createWorld({ permit: true });
    const row = await settleUnder(world, { funder: await createOtherFunder() }, true);
    world.platform.rows.set('june', { ...row, chain: 'base' });
    const job = await runJune(world);
    expect(viewOf(job).error).toEqual(doNotResubmit);
    expect(viewOf(job).error?.message).toContain('on chain base');
    expect(world.prover.proofs).toBe(1);
  });

  it.each([
    ['a wrong checksum', '0x5fbDB2315678afecb367f032d93F642f64180aa3'],
    ['nothing but zeros', `0x${'00'.repeat(20)}`],
  ])('is not reported as unpaid if the platform names a funder with %s', async (_what, funder) => {
    const world = await createWorld({ permit: true });
    const row = await settleUnder(world, { funder: await createOtherFunder() }, true);
    world.platform.rows.set('june', { ...row, batch: { ...row.batch, funder } });
    const job = await runJune(world);
    expect(viewOf(job).error).toEqual(doNotResubmit);
    expect(world.prover.proofs).toBe(1);
  });

  it('is reported even if another error would fail the job', async () => {
    const world = await createWorld({ permit: true });
    const row = await settleUnder(world, { funder: await createOtherFunder() }, true);
    world.platform.rows.delete('june');
    const job = await world.accept('june');
    world.gate.failCalls(1_000_000);
    await world.run(job, (point) => {
      if (point === 'eligibility.entered') {
        world.platform.rows.set('june', row);
      }
    });
    expect(viewOf(job).error).toEqual(doNotResubmit);
  });

  it('is reported to a client that cancels the job before its batch is released', async () => {
    const world = await createWorld({ permit: true });
    await settleUnder(world, { funder: await createOtherFunder() }, true);
    const job = await world.accept('june');
    job.values.set(cancellationName, '{"askedAtMs":1}');
    await world.run(job);
    expect(viewOf(job).error).toEqual(doNotResubmit);
  });

  it('is not signed for when the settlement appears while the batch is proved', async () => {
    const world = await createWorld({ permit: true });
    const row = await settleUnder(world, { funder: await createOtherFunder() }, true);
    world.platform.rows.delete('june');
    const job = await world.accept('june');
    await world.run(job, (point) => {
      if (point === 'proving.after-store') {
        world.platform.rows.set('june', row);
      }
    });
    expect(viewOf(job).error).toEqual(doNotResubmit);
    expect(job.record().signature).toBeUndefined();
  });
});

describe('a key that may still be paid on other terms', () => {
  it('ends as settled_elsewhere, and states until when', async () => {
    const world = await createWorld({ permit: true });
    const row = await settleUnder(world, { funder: await createOtherFunder() }, false);
    const job = await runJune(world);
    expect(viewOf(job).error).toEqual(doNotResubmit);
    const until = new Date(row.batch.deadline * 1000).toISOString();
    expect(viewOf(job).error?.message).toContain(until);
  });

  it('is paid here when a final block shows that the other authorisation is dead', async () => {
    const world = await createWorld({ permit: true });
    const row = await settleUnder(world, { funder: await createOtherFunder() }, false);
    world.clock.advanceSeconds(row.batch.deadline - Math.floor(world.clock.nowMs() / 1000) + 1);
    const job = await runJune(world);
    expect(viewOf(job).result?.status).toBe('completed');
    expect(world.chain.funds).toBe(1);
  });

  it('is paid here when the other authorisation was withdrawn', async () => {
    const world = await createWorld({ permit: true });
    const row = await settleUnder(world, { funder: await createOtherFunder() }, false);
    world.chain.voidBatch(parseEvmAddress(row.batch.funder), row.batch.batchNonce);
    const job = await runJune(world);
    expect(viewOf(job).result?.status).toBe('completed');
  });

  it('is not treated as dead by its deadline alone, because another pool or an unread chain may have paid it [failure.settled-elsewhere]', async () => {
    const world = await createWorld({ permit: true });
    const row = await settleUnder(world, {}, false);
    world.clock.advanceSeconds(row.batch.deadline - Math.floor(world.clock.nowMs() / 1000) + 1);
    const job = await runJune(world, { findChain: () => withPool(world, otherPool) });
    expect(viewOf(job).error).toEqual(doNotResubmit);
  });

  it('is not treated as dead while the platform reports it as settled', async () => {
    const world = await createWorld({ permit: true });
    const row = await settleUnder(world, { funder: await createOtherFunder() }, false);
    world.platform.rows.set('june', { ...row, state: 'settled' });
    world.clock.advanceSeconds(row.batch.deadline - Math.floor(world.clock.nowMs() / 1000) + 1);
    const job = await runJune(world);
    expect(viewOf(job).error).toEqual(doNotResubmit);
  });
});

/** Calls back whenever the job waits. */
function withTick(world: World, onTick: () => void): DisbursementDeps['clock'] {
  return {
    ...world.clock,
    async sleep(milliseconds, signal) {
      await world.clock.sleep(milliseconds, signal);
      onTick();
    },
  };
}

describe('a settlement on other terms that is seen after the release', () => {
  /** The batch is released before another agent's settlement appears under its key. */
  async function meetAfterRelease(lands: boolean) {
    const world = await createWorld({ permit: true, finalityBlocks: 3 });
    const row = await settleUnder(world, { funder: await createOtherFunder() }, lands);
    world.platform.rows.delete('june');
    const job = await world.accept('june');
    const meet = (point: string): void => {
      if (point === 'settling.released') {
        world.platform.rows.set('june', row);
      }
    };
    return { world, row, job, meet };
  }

  it('ends the job as settled_elsewhere once its own batch is dead, and does not send it again [failure.settled-elsewhere]', async () => {
    const { world, job, meet } = await meetAfterRelease(true);
    const posts = world.platform.posts;
    await world.run(job, meet);
    expect(viewOf(job).error).toEqual(doNotResubmit);
    expect(world.platform.posts).toBe(posts + 1);
    expect(world.chain.funds).toBe(0);
  });

  it('lets other batches of the funder go first meanwhile', async () => {
    const { world, job, meet } = await meetAfterRelease(true);
    const token = parseEvmAddress(world.context.settings.tokens['USDC']?.address);
    const lock = ['allowance', 'anvil', token, world.funder.address].join(' ');
    const turns = createKeyLock();
    const seen = new Set<boolean>();
    await world.run(job, meet, {
      turns,
      clock: withTick(world, () => {
        if (job.record().refusal?.code === 'settled_elsewhere') {
          seen.add(turns.isTaken(lock));
        }
      }),
    });
    expect([...seen]).toEqual([false]);
  });

  it('is remembered when the platform forgets it and the agent is restarted', async () => {
    const { world, job, meet } = await meetAfterRelease(true);
    const clock = withTick(world, () => {
      if (job.record().stage === 'settlement-refused') {
        throw new Error('power cut');
      }
    });
    await expect(world.run(job, meet, { clock })).rejects.toMatchObject({
      code: 'run_interrupted',
    });
    world.platform.rows.delete('june');
    const posts = world.platform.posts;
    await world.run(job);
    expect(viewOf(job).error).toEqual(doNotResubmit);
    expect(world.platform.posts).toBe(posts);
  });

  it('is reported to a client that cancels the job', async () => {
    const { world, job, meet } = await meetAfterRelease(true);
    await world.run(job, (point) => {
      meet(point);
      if (point === 'settling.posted') {
        job.values.set(cancellationName, '{"askedAtMs":1}');
      }
    });
    expect(viewOf(job).error).toEqual(doNotResubmit);
  });

  it('is also reported by a partial job [failure.settled-elsewhere]', async () => {
    const { world, row, job } = await meetAfterRelease(true);
    world.platform.beforeInclusion = () => {
      world.chain.balance = 0n;
    };
    await world.run(job, () => {
      if (job.record().revert !== undefined) {
        world.platform.rows.set('june', row);
      }
    });
    const { result } = viewOf(job);
    expect(result?.status).toBe('partial');
    expect(result?.batches[0]?.error).toEqual(doNotResubmit);
  });

  it('ends like any unpaid job if that settlement is also dead', async () => {
    const { world, job, meet } = await meetAfterRelease(false);
    await world.run(job, meet);
    expect(viewOf(job).error).toEqual({
      code: 'settlement_expired',
      message: expect.stringContaining('nothing was paid'),
    });
    expect(world.chain.funds).toBe(0);
  });

  it('waits at the end while the platform does not answer', async () => {
    const { world, job } = await meetAfterRelease(true);
    world.platform.holdBack = true;
    let asked = 0;
    await world.run(job, (point) => {
      if (point === 'settling.observed') {
        world.platform.failCalls(50);
        asked += 1;
      }
    });
    expect(asked).toBe(1);
    expect(viewOf(job).error?.code).toBe('settlement_expired');
    // The job waited until the outage ended.
    await expect(world.platform.getSettlement('june')).resolves.toBeDefined();
  });
});
