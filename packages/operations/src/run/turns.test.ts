// The turn of a batch (docs/decisions/0015): who waits for it says so, holds up nobody else, and can be cancelled.

import { createKeyLock, type KeyLock } from '@pool/wallet';
import { describe, expect, it } from 'vitest';
import { createWorld, type FakeJob, type World } from '../fixtures/fake-world.ts';
import { cancel, runWith } from '../fixtures/run-with.ts';
import type { RunEvent } from './job/run.ts';

const voting = { isVoting: true, permit: true } as const;

/** Another batch of this chain, token and funder has the lock. @returns how it ends */
function takeTurn(world: World, turns: KeyLock): Promise<() => void> {
  const { address } = world.context.settings.tokens['USDC']!;
  const name = ['allowance', world.context.key, address, world.funder.address].join(' ');
  return turns.acquire(name, new AbortController().signal);
}

/** Lets the runs of this process go on until something is so. */
async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 5_000 && !isSo(); turn += 1) {
    await new Promise(setImmediate);
  }
  expect(isSo()).toBe(true);
}

async function crashWhenSigned(world: World, job: FakeJob): Promise<void> {
  const crashed = world.run(job, (point) => {
    if (point === 'signing.after-store') {
      throw new Error('crash');
    }
  });
  await expect(crashed).rejects.toMatchObject({ code: 'run_interrupted' });
}

describe('a batch that waits for its turn', () => {
  it('after the vote on its permit says that it waits for other batches, not for a vote', async () => {
    const world = await createWorld(voting);
    world.voting.policy = (kind) => (kind === 'permit' ? 'wait' : 'approve');
    const turns = createKeyLock();
    const job = await world.accept();
    const stages: string[] = [];
    const onEvent = (event: RunEvent): void => {
      if (event.kind === 'stage') {
        stages.push(event.stage);
      }
    };
    const running = world.run(job, undefined, { turns, onEvent });
    await until(() => world.voting.countOf('permit') === 1);
    const end = await takeTurn(world, turns);
    world.voting.policy = () => 'approve';
    await until(() => job.record().stage === 'awaiting-turn');
    end();
    await running;
    expect(job.state()).toBe('done');
    expect(stages.slice(stages.indexOf('awaiting-turn') - 1)).toEqual([
      'awaiting-approval',
      'awaiting-turn',
      'approving-allowance',
      'signing',
      'approving-allowance',
      'settling',
    ]);
  });

  it('after a restart says so', async () => {
    const world = await createWorld({ permit: true });
    const turns = createKeyLock();
    const job = await world.accept();
    await crashWhenSigned(world, job);
    const end = await takeTurn(world, turns);
    const running = world.run(job, undefined, { turns });
    await until(() => job.record().stage === 'awaiting-turn');
    end();
    await running;
    expect(job.state()).toBe('done');
  });

  it.each([
    ['and is signed by a local key', { permit: true }],
    ['and was voted on', voting],
  ])('%s is cancelled without the turn', async (_what, options) => {
    const world = await createWorld(options);
    const turns = createKeyLock();
    const job = await world.accept();
    await crashWhenSigned(world, job);
    await takeTurn(world, turns);
    cancel(job);
    const running = world.run(job, undefined, { turns });
    await until(() => job.state() === 'failed');
    await running;
    expect(job.record().error?.code).toBe('cancelled');
    expect(world.chain.funds).toBe(0);
  });

  it('past its deadline says that the queue took the time, and what to do', async () => {
    const world = await createWorld(voting);
    const turns = createKeyLock();
    const job = await world.accept();
    const end = await takeTurn(world, turns);
    const running = world.run(job, undefined, { turns });
    await until(() => job.record().stage === 'awaiting-turn');
    world.clock.advanceSeconds(2 * 86_400);
    end();
    await running;
    expect(job.record().error).toMatchObject({
      code: 'settlement_expired',
      message: expect.stringMatching(
        /came while it waited for its turn behind other batches.*nothing was paid.*fewer of these batches at once.*DISBURSE_VOTE_LIMIT_SECONDS/,
      ),
    });
    expect(world.platform.posts).toBe(0);
  });

  it('gets its deadline when it is asked for: the time before that does not count', async () => {
    const world = await createWorld({ permit: true });
    const turns = createKeyLock();
    const job = await world.accept();
    const end = await takeTurn(world, turns);
    const running = world.run(job, undefined, { turns });
    await until(() => job.record().stage === 'awaiting-turn');
    world.clock.advanceSeconds(2 * 86_400);
    end();
    await running;
    expect(job.state()).toBe('done');
  });
});

describe('a refused batch whose new permit is voted on', () => {
  it('says that it waits for the vote', async () => {
    const world = await createWorld({ ...voting, finalityBlocks: 5 });
    const job = await world.accept();
    world.platform.beforeInclusion = () => {
      world.platform.beforeInclusion = undefined;
      world.chain.balance = 0n;
    };
    const stages: (string | undefined)[] = [];
    const note = (): unknown => stages.push(job.record().stage);
    await runWith(world, job, [
      [
        300,
        () => {
          note();
          world.chain.balance = 10n ** 30n;
          // Another transaction used the nonce of the permit meanwhile.
          world.chain.permitNonce += 1n;
          world.voting.policy = (kind) => (kind === 'permit' ? 'wait' : 'approve');
        },
      ],
      [600, note],
      [700, () => world.voting.decide('permit', 'approve')],
    ]);
    expect(stages).toEqual(['settlement-refused', 'awaiting-approval']);
    expect(job.state()).toBe('done');
    expect(world.voting.countOf('permit')).toBe(2);
    expect(world.chain.funds).toBe(1);
  });
});

describe('a signer that needs no vote', () => {
  it('and does not sign has the time of an outage, and does not hold up other batches for longer', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    const startMs = world.clock.nowMs();
    const funder = {
      ...world.funder,
      ask: async () => ({ state: 'waiting', providerId: 'enclave:1' }) as const,
    };
    await world.run(job, undefined, { funder });
    expect(job.record().error?.code).toBe('timed_out');
    expect(world.clock.nowMs() - startMs).toBeLessThan(60_000);
  });
});
