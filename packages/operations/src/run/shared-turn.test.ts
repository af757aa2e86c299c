// A released batch that the relayer refuses is reported, and no other batch waits behind it.
import type { ErrorCode } from '@pool/core';
import { createKeyLock } from '@pool/wallet';
import { describe, expect, it } from 'vitest';
import {
  createWorld,
  type FakeJob,
  viewOf,
  type World,
  type WorldOptions,
} from '../fixtures/fake-world.ts';
import { cancellationName } from './job/record.ts';
import type { RunEvent } from './job/run.ts';

const allowances: [string, WorldOptions][] = [
  ['with a permit', { permit: true, finalityBlocks: 5 }],
  ['with an approval', { finalityBlocks: 5 }],
];

/** A batch of 6000 was released, and its funder has 100 left; another batch of one unit must be paid. */
async function createUnderfunded(options: WorldOptions) {
  const world = await createWorld(options);
  const turns = createKeyLock();
  const large = await world.accept('large');
  const events: RunEvent[] = [];
  let onTick: () => void = () => undefined;
  const running = world.run(
    large,
    (point) => {
      if (point === 'settling.released') {
        world.chain.balance = 100n;
      }
    },
    {
      turns,
      onEvent: (event) => events.push(event),
      clock: {
        ...world.clock,
        async sleep(milliseconds, signal) {
          onTick();
          await world.clock.sleep(milliseconds, signal);
        },
      },
    },
  );
  const until = (isSo: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      onTick = () => (isSo() ? resolve() : undefined);
    });
  await until(() => large.record().stage === 'settlement-refused');
  const payOne = async (): Promise<FakeJob> => {
    const [first] = world.createRequest().recipients;
    const job = await world.accept('small', { recipients: [{ ...first!, amount: '1' }] });
    await world.run(job, undefined, { turns });
    return job;
  };
  const kill = (): void => {
    onTick = () => {
      throw new Error('power cut');
    };
  };
  return { world, turns, large, events, running, kill, payOne };
}

function topUp(world: World): void {
  world.chain.balance = 10n ** 30n;
}

describe('a settlement that is refused', () => {
  it('is reported while the job waits: in its stage, its record and an event [failure.refused-meanwhile]', async () => {
    const { world, large, events, running } = await createUnderfunded({ permit: true });
    expect(large.state()).toBe('submitted');
    expect(large.record().refusal).toMatchObject({ code: 'erc20-insufficient-balance' });
    expect(events.filter(({ kind }) => kind === 'refused')).toEqual([
      { kind: 'refused', stage: expect.any(String), code: 'erc20-insufficient-balance' },
    ]);
    topUp(world);
    await running;
    expect(viewOf(large).state).toBe('done');
  });

  it('is also reported for a reverted transaction', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    world.platform.beforeInclusion = () => {
      world.chain.balance = 0n;
    };
    const seen = new Set<string | undefined>();
    await world.run(job, undefined, {
      onEvent: () => {
        seen.add(job.record().stage);
      },
    });
    expect(seen).toContain('settlement-refused');
    expect(viewOf(job).result?.status).toBe('partial');
  });

  it('is reported if the platform refuses to store it', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    const stages = new Set<string | undefined>();
    const { PoolError } = await import('@pool/core');
    await world.run(job, undefined, {
      onEvent: () => {
        stages.add(job.record().stage);
      },
      platform: {
        ...world.platform,
        postSettlement: () => Promise.reject(new PoolError('invalid_settlement', 'a bad proof')),
      },
    });
    expect(stages).toContain('settlement-refused');
    expect(job.record().refusal).toEqual({ code: 'invalid_settlement', message: 'a bad proof' });
    expect(viewOf(job).error?.code).toBe('settlement_expired');
  });
});

describe('a settlement for which the platform has no gas left today', () => {
  const spent = async () => {
    const { PoolError } = await import('@pool/core');
    return new PoolError('gas_budget_exceeded', 'later');
  };

  it('is reported as refused, sent again, and paid when the platform has gas again', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    const stages = new Set<string | undefined>();
    let refusals = 0;
    await world.run(job, undefined, {
      onEvent: () => {
        stages.add(job.record().stage);
      },
      platform: {
        ...world.platform,
        async postSettlement(key, request) {
          if (refusals < 3) {
            refusals += 1;
            throw await spent();
          }
          return await world.platform.postSettlement(key, request);
        },
      },
    });
    expect(refusals).toBe(3);
    expect(stages).toContain('settlement-refused');
    expect(viewOf(job).result?.status).toBe('completed');
  });

  it('fails after its deadline otherwise, and names what was missing', async () => {
    const world = await createWorld({ permit: true });
    const job = await world.accept();
    await world.run(job, undefined, {
      platform: {
        ...world.platform,
        postSettlement: async () => {
          throw await spent();
        },
      },
    });
    expect(job.record().refusal?.code).toBe('gas_budget_exceeded');
    const { error } = viewOf(job);
    expect(error?.code).toBe('settlement_expired');
    expect(error?.message).toContain('nothing was paid (last refusal: gas_budget_exceeded)');
  });
});

describe('a settlement that the platform never accepted', () => {
  it('delays no other batch once a run that has posted nothing cancels it', async () => {
    const world = await createWorld({ permit: true, finalityBlocks: 5 });
    const { PoolError } = await import('@pool/core');
    const refuse = (code: ErrorCode, status: number) => (): Promise<never> =>
      Promise.reject(new PoolError(code, 'refused', { status }));
    const platform = {
      ...world.platform,
      postSettlement: refuse('invalid_settlement', 400),
      postVoid: refuse('not_found', 404),
    };
    const large = await world.accept('large');
    const turns = createKeyLock();
    await expect(
      world.run(large, undefined, {
        turns,
        platform,
        clock: {
          ...world.clock,
          async sleep(milliseconds, signal) {
            if (large.record().stage === 'settlement-refused') {
              throw new Error('power cut');
            }
            await world.clock.sleep(milliseconds, signal);
          },
        },
      }),
    ).rejects.toThrow();
    large.values.set(cancellationName, '{"askedAtMs":1}');
    const running = world.run(large, undefined, { turns, platform });
    const [first] = world.createRequest().recipients;
    const small = await world.accept('small', { recipients: [{ ...first!, amount: '1' }] });
    await world.run(small, undefined, { turns });
    expect(viewOf(small).result?.status).toBe('completed');
    expect(large.state()).toBe('submitted');
    await running;
    expect(viewOf(large).error?.code).toBe('cancelled');
  });
});

/** Two batches wait for the turn, which is free now. @param onInclusion - called before each batch gets into a block */
async function queueTwo(options: WorldOptions, onInclusion: (first: FakeJob) => void) {
  const world = await createWorld({ ...options, finalityBlocks: 780 });
  const turns = createKeyLock();
  const { address } = world.context.settings.tokens['USDC']!;
  const name = `allowance ${world.context.key} ${address} ${world.funder.address}`;
  const end = await turns.acquire(name, new AbortController().signal);
  const [first, second] = [await world.accept('first'), await world.accept('second')];
  world.platform.beforeInclusion = () => onInclusion(first);
  const isWaiting = (job: FakeJob): boolean => job.record().stage === 'awaiting-turn';
  const runs: Promise<RunEvent[]>[] = [];
  for (const job of [first, second]) {
    runs.push(world.run(job, undefined, { turns }));
    while (!isWaiting(job)) {
      await new Promise(setImmediate);
    }
  }
  const startMs = world.clock.nowMs();
  end();
  return { world, first, second, runs, startMs };
}

describe.each(allowances)('two batches of one funder and token, %s', (_, options) => {
  it('are final at the same time: the second one goes once a block has the first', async () => {
    const stages: (string | undefined)[] = [];
    const { world, runs, startMs } = await queueTwo(options, (first) =>
      stages.push(first.record().stage),
    );
    await Promise.all(runs);
    expect(stages).toEqual(['settling', 'awaiting-finality']);
    expect(world.chain.funds).toBe(2);
    expect(world.chain.allowance).toBe(0n);
    expect(world.clock.nowMs() - startMs).toBeLessThan(1_000_000);
  });

  it('are both paid if the chain drops the block of the first one', async () => {
    const { world, first, second, runs } = await queueTwo(options, () => undefined);
    while (second.record().stage !== 'awaiting-finality') {
      await new Promise(setImmediate);
    }
    const { batch } = world.platform.rows.get('first')!;
    world.chain.dropFund(batch);
    while (first.record().stage !== 'settling') {
      await new Promise(setImmediate);
    }
    expect(first.state()).toBe('submitted');
    // The relayer's transaction is still valid, and another block takes it.
    world.chain.mineFund(batch, undefined);
    await Promise.all(runs);
    expect([first, second].map((job) => viewOf(job).result?.status)).toEqual([
      'completed',
      'completed',
    ]);
    expect(world.chain.funds).toBe(2);
    expect(world.chain.allowance).toBe(0n);
    expect(world.prover.proofs).toBe(2);
  });
});

describe.each(allowances)('a batch that cannot be collected, %s', (_, options) => {
  it('delays no other batch of its funder and token [failure.refused-meanwhile]', async () => {
    const { world, large, running, payOne } = await createUnderfunded(options);
    const small = await payOne();
    expect(viewOf(small).result?.status).toBe('completed');
    expect(large.state()).toBe('submitted');
    topUp(world);
    await running;
    expect(viewOf(large).result?.status).toBe('completed');
    expect(world.chain.funds).toBe(2);
    expect(world.chain.allowance).toBe(0n);
  });

  it('leaves no allowance behind when it is cancelled after another one was paid', async () => {
    const { world, large, running, payOne } = await createUnderfunded(options);
    await payOne();
    large.values.set(cancellationName, '{"askedAtMs":1}');
    await running;
    expect(viewOf(large).error?.code).toBe('cancelled');
    expect(world.chain.funds).toBe(1);
    expect(world.chain.allowance).toBe(0n);
  });

  it('also delays no other batch after a restart', async () => {
    const { world, large, running, kill, turns, payOne } = await createUnderfunded(options);
    kill();
    await expect(running).rejects.toMatchObject({ code: 'run_interrupted' });
    const again = world.run(large, undefined, { turns });
    const small = await payOne();
    expect(viewOf(small).result?.status).toBe('completed');
    expect(large.state()).toBe('submitted');
    topUp(world);
    await again;
    expect(world.chain.funds).toBe(2);
    expect(world.chain.allowance).toBe(0n);
  });
});
