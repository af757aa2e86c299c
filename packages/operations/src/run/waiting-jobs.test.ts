// Jobs that wait for a vote or for their turn take no slot of the worker: others run meanwhile (docs/decisions/0015).
import { setTimeout as sleep } from 'node:timers/promises';
import { createMemoryStore, type JobStore } from '@pool/idempotency';
import { createKeyLock } from '@pool/wallet';
import { expect, it, onTestFinished } from 'vitest';
import { checkDisbursement } from '../check/check-disbursement.ts';
import { createWorld, type World } from '../fixtures/fake-world.ts';
import { createRecord, deserializeRecord, serializeRecord } from './job/record.ts';
import { startJobRunner } from './job-runner.ts';

const scope = '5b1d1f0e-6f55-4d3a-9d53-6f1f2c1a7e01';

async function claim(world: World, store: JobStore, key: string): Promise<void> {
  const checked = await checkDisbursement(world.createRequest(), world.checks);
  const payload = serializeRecord(createRecord(checked, scope, key));
  const nowMs = world.clock.nowMs();
  await store.claim({ scope, key, fingerprint: key, state: 'accepted', payload, nowMs });
}

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  for (let turn = 0; turn < 2_000; turn += 1) {
    if (await condition()) {
      return;
    }
    await sleep(2);
  }
  throw new Error('it did not happen');
}

it('runs more jobs than it has slots while all of them wait for a vote', async () => {
  const world = await createWorld({ isVoting: true, permit: true });
  world.voting.policy = () => 'wait';
  const store = createMemoryStore();
  const keys = ['one', 'two', 'three'];
  for (const key of keys) {
    await claim(world, store, key);
  }
  const { onEvent: _onEvent, clock: _clock, ...deps } = world.createDeps(async () => undefined, []);
  const clock = {
    ...world.clock,
    // Time passes slowly enough for the vote to be in time.
    sleep: (milliseconds: number, signal: AbortSignal) =>
      world.clock.sleep(Math.min(milliseconds, 1_000), signal),
  };
  const runner = startJobRunner({
    ...{ store, scope, clock, deps },
    ...{ workerId: 'worker', concurrency: 1, leaseTtlMs: 600_000, idleMs: 10 },
    onEvent: () => undefined,
  });
  onTestFinished(() => runner.stop());
  await until(() => world.voting.countOf('fund-authorization') === 3);
  world.voting.policy = () => 'approve';
  await until(async () =>
    (await Promise.all(keys.map((key) => store.get(scope, key)))).every(
      (job) => job?.state === 'done',
    ),
  );
  expect(world.chain.funds).toBe(3);
  expect(world.voting.countOf('fund-authorization')).toBe(3);
});

it('runs more jobs than it has slots while all of them wait for their turn', async () => {
  const world = await createWorld({ permit: true });
  const store = createMemoryStore();
  const keys = ['one', 'two', 'three'];
  for (const key of keys) {
    await claim(world, store, key);
  }
  const { onEvent: _onEvent, clock: _clock, ...deps } = world.createDeps(async () => undefined, []);
  const turns = createKeyLock();
  const { address } = world.context.settings.tokens['USDC']!;
  const name = ['allowance', world.context.key, address, world.funder.address].join(' ');
  const end = await turns.acquire(name, new AbortController().signal);
  const runner = startJobRunner({
    ...{ store, scope, clock: world.clock, deps: { ...deps, turns } },
    ...{ workerId: 'worker', concurrency: 1, leaseTtlMs: 600_000, idleMs: 10 },
    onEvent: () => undefined,
  });
  onTestFinished(() => runner.stop());
  const areAll = async (isSo: (job: { state: string; payload: string }) => boolean) =>
    (await Promise.all(keys.map((key) => store.get(scope, key)))).every(
      (job) => job !== undefined && isSo(job),
    );
  await until(() => areAll(({ payload }) => deserializeRecord(payload).stage === 'awaiting-turn'));
  end();
  await until(() => areAll(({ state }) => state === 'done'));
  expect(world.chain.funds).toBe(3);
});
