// The worker over a real job store: continues the jobs of other workers, survives interruptions, stops cleanly, and
// erases data after the retention time.

import { setTimeout as sleep } from 'node:timers/promises';
import type { DisburseRequest } from '@pool/core';
import { createMemoryStore, type JobStore } from '@pool/idempotency';
import type { JobWorker } from '@pool/idempotency/engine';
import { createFakeHolder } from '@pool/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import { checkDisbursement } from '../check/check-disbursement.ts';
import { createWorld, type World } from '../fixtures/fake-world.ts';
import { readView } from '../fixtures/view-record.ts';
import { deliveryName, parseDelivery } from './batch/batch.ts';
import {
  cancellationName,
  createRecord,
  deserializeRecord,
  manifestName,
  serializeRecord,
} from './job/record.ts';
import { type JobEvent, startJobRunner } from './job-runner.ts';
import { eraseExpired } from './retention.ts';

const scope = '5b1d1f0e-6f55-4d3a-9d53-6f1f2c1a7e01';
const running: JobWorker[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((runner) => runner.stop()));
});

async function claim(
  world: World,
  store: JobStore,
  key: string,
  changes: Partial<DisburseRequest> = {},
): Promise<void> {
  const checked = await checkDisbursement(world.createRequest(changes), world.checks);
  const payload = serializeRecord(
    createRecord(checked, scope, key, { requestId: `request of ${key}` }),
  );
  const nowMs = world.clock.nowMs();
  await store.claim({ scope, key, fingerprint: key, state: 'accepted', payload, nowMs });
}

function start(
  world: World,
  store: JobStore,
  onFaultPoint = async (): Promise<void> => undefined,
  concurrency = 4,
) {
  const events: JobEvent[] = [];
  const requestIds: (string | undefined)[] = [];
  const { onEvent: _onEvent, clock: _clock, ...deps } = world.createDeps(onFaultPoint, []);
  const runner = startJobRunner({
    store,
    scope,
    clock: world.clock,
    deps,
    workerId: 'worker',
    concurrency,
    leaseTtlMs: 60_000,
    idleMs: 10,
    onEvent: (_key, event, requestId) => {
      events.push(event);
      requestIds.push(requestId);
    },
  });
  running.push(runner);
  return { runner, events, requestIds };
}

async function untilDone(store: JobStore, ...keys: string[]): Promise<void> {
  for (let turn = 0; turn < 2_000; turn += 1) {
    const jobs = await Promise.all(keys.map((key) => store.get(scope, key)));
    if (jobs.every((job) => job?.state === 'done' || job?.state === 'failed')) {
      return;
    }
    await sleep(5);
  }
  throw new Error('the jobs did not end');
}

describe('startJobRunner', () => {
  it('names the request of a job with each of its events', async () => {
    const world = await createWorld({ permit: true });
    const store = createMemoryStore();
    await claim(world, store, 'one');
    const { requestIds, events } = start(world, store);
    await untilDone(store, 'one');
    await expect.poll(() => events.at(-1)?.kind).toBe('outcome');
    expect(new Set(requestIds)).toEqual(new Set(['request of one']));
  });

  it('runs each job that it finds once', async () => {
    const world = await createWorld({ permit: true });
    const store = createMemoryStore();
    await claim(world, store, 'one');
    await claim(world, store, 'two');
    start(world, store);
    await untilDone(store, 'one', 'two');
    expect(world.chain.funds).toBe(2);
  });

  it('does not run the jobs of another employer', async () => {
    const world = await createWorld({ permit: true });
    const store = createMemoryStore();
    const other = { scope: 'another employer', key: 'theirs' };
    const checked = await checkDisbursement(world.createRequest(), world.checks);
    const payload = serializeRecord(createRecord(checked, other.scope, other.key));
    await store.claim({ ...other, fingerprint: 'f', state: 'accepted', payload, nowMs: 0 });
    await claim(world, store, 'ours');
    start(world, store);
    await untilDone(store, 'ours');
    const left = await store.get(other.scope, other.key);
    expect([left?.state, left?.fence]).toEqual(['accepted', 0]);
    expect(world.chain.funds).toBe(1);
  });

  it('runs other jobs while a job that cannot continue waits for its retry', async () => {
    const world = await createWorld({ permit: true });
    const store = createMemoryStore();
    const stuck = { scope, key: 'stuck', fingerprint: 'stuck', state: 'accepted' };
    await store.claim({ ...stuck, payload: '{"version":2}', nowMs: world.clock.nowMs() });
    await claim(world, store, 'two');
    const { events } = start(world, store, undefined, 1);
    await untilDone(store, 'two');
    expect(events.some(({ kind }) => kind === 'interrupted')).toBe(true);
    expect((await store.get(scope, 'stuck'))?.state).toBe('accepted');
    expect(world.chain.funds).toBe(1);
  });

  it('continues a job whose run was interrupted', async () => {
    const world = await createWorld({ permit: true });
    const store = createMemoryStore();
    await claim(world, store, 'one');
    let interruptions = 0;
    const { events } = start(world, store, async () => {
      if (interruptions < 3) {
        interruptions += 1;
        throw new Error('power cut');
      }
    });
    await untilDone(store, 'one');
    expect(events.filter(({ kind }) => kind === 'interrupted')).toHaveLength(3);
    expect(world.chain.funds).toBe(1);
  });

  it('stops in the middle of a job and leaves it to the next worker', async () => {
    const world = await createWorld({ permit: true });
    world.platform.holdBack = true;
    const store = createMemoryStore();
    await claim(world, store, 'one');
    const { runner } = start(world, store);
    while (world.platform.posts === 0) {
      await sleep(5);
    }
    await runner.stop();
    expect((await store.get(scope, 'one'))?.state).toBe('submitted');
    world.platform.holdBack = false;
    world.platform.rows.clear();
    start(world, store);
    await untilDone(store, 'one');
    const job = await store.get(scope, 'one');
    expect(readView(job?.payload).result?.status).toBe('completed');
    expect(world.chain.funds).toBe(1);
  });
});

describe('a job that is cancelled', () => {
  async function ask(store: JobStore, key: string): Promise<void> {
    await store.ask({ scope, key, name: cancellationName, value: '{"askedAtMs":1}' });
  }

  async function errorOf(store: JobStore, key: string): Promise<string | undefined> {
    return readView((await store.get(scope, key))?.payload).error?.code;
  }

  it('ends at once while it waits for its turn', async () => {
    const world = await createWorld({ permit: true });
    world.platform.holdBack = true;
    const store = createMemoryStore();
    await claim(world, store, 'one');
    await claim(world, store, 'two');
    const { runner, events } = start(world, store);
    const isWaiting = (event: JobEvent): boolean =>
      event.kind === 'stage' && event.stage === 'awaiting-turn';
    await expect.poll(() => events.some(isWaiting)).toBe(true);
    const jobs = await Promise.all(['one', 'two'].map((key) => store.get(scope, key)));
    const waiting = jobs.find((job) => job?.payload.includes('"stage":"awaiting-turn"'))!.key;
    await ask(store, waiting);
    runner.cancel(waiting);
    runner.cancel(waiting);
    await untilDone(store, waiting);
    expect(await errorOf(store, waiting)).toBe('cancelled');
    expect(events).toContainEqual({ kind: 'interrupted', reason: 'it is cancelled' });
  });

  it('runs before all others, even if every place is taken', async () => {
    const world = await createWorld({ permit: true });
    world.platform.holdBack = true;
    const store = createMemoryStore();
    await claim(world, store, 'one');
    world.clock.advanceSeconds(1);
    await claim(world, store, 'two');
    const { runner } = start(world, store, undefined, 1);
    while (world.platform.posts === 0) {
      await sleep(5);
    }
    await ask(store, 'two');
    runner.cancel('two');
    await untilDone(store, 'two');
    expect(await errorOf(store, 'two')).toBe('cancelled');
    expect((await store.get(scope, 'one'))?.state).toBe('submitted');
  });

  it('does not wait for its retry if its run was interrupted', async () => {
    const world = await createWorld({ permit: true });
    const store = createMemoryStore();
    await claim(world, store, 'one');
    let isBroken = true;
    const { runner, events } = start(world, store, async () => {
      if (isBroken) {
        throw new Error('power cut');
      }
    });
    await expect.poll(() => events.some(({ kind }) => kind === 'interrupted')).toBe(true);
    isBroken = false;
    await ask(store, 'one');
    runner.cancel('one');
    await untilDone(store, 'one');
    expect(await errorOf(store, 'one')).toBe('cancelled');
  });

  it('is forgotten by the runner if it has ended or does not exist', async () => {
    const world = await createWorld({ permit: true });
    const store = createMemoryStore();
    const { runner } = start(world, store);
    runner.cancel('never');
    await claim(world, store, 'one');
    await untilDone(store, 'one');
    expect(world.chain.funds).toBe(1);
  });
});

describe('eraseExpired', () => {
  it('erases recipients and seed after the retention days, and keeps the result and the key', async () => {
    const world = await createWorld({ permit: true });
    const store = createMemoryStore();
    await claim(world, store, 'one');
    start(world, store);
    await untilDone(store, 'one');
    const before = readView((await store.get(scope, 'one'))?.payload);
    expect((await eraseExpired(store, 30, world.clock.nowMs())).erased).toBe(0);
    expect(await store.getValue(scope, 'one', manifestName)).toBeDefined();

    expect((await eraseExpired(store, 30, world.clock.nowMs() + 31 * 86_400_000)).erased).toBe(1);
    const after = readView((await store.get(scope, 'one'))?.payload);
    expect(await store.getValue(scope, 'one', manifestName)).toBeUndefined();
    expect(after.recipients).toEqual([]);
    expect(after.result).toEqual(before.result);
    expect((await store.get(scope, 'one'))?.fingerprint).toBe('one');
  });

  it('keeps the sealed notes of a paid batch, from which its recipients can still be served', async () => {
    const world = await createWorld({ permit: true });
    const store = createMemoryStore();
    await claim(world, store, 'one');
    start(world, store);
    await untilDone(store, 'one');
    await eraseExpired(store, 30, world.clock.nowMs() + 31 * 86_400_000);
    const kept = (await store.getValue(scope, 'one', deliveryName)) ?? '';
    const row = world.platform.rows.get('one');
    const delivery = parseDelivery(kept);
    expect(delivery.sealedNotes).toEqual(row?.sealedNotes);
    expect(delivery.batch).toEqual(row?.batch);
    // No recipient by address or wallet, and no amount but the total.
    for (const { address, walletPub } of world.holders) {
      expect(kept.toLowerCase()).not.toContain(address.toLowerCase());
      expect(kept).not.toContain(walletPub);
    }
    expect(kept).not.toMatch(/"[123]000"/);
    expect(delivery.batch.total).toBe('6000');
  });

  it('erases the sealed notes of a batch that paid nobody', async () => {
    const store = createMemoryStore();
    const world = await createWorld();
    await claim(world, store, 'one');
    const lease = await store.lease({ workerId: 'w', states: ['accepted'], ttlMs: 9, nowMs: 1 });
    const fenced = { scope, key: 'one', fence: lease?.fence ?? 0 };
    await store.putOnce({ ...fenced, name: deliveryName, value: 'sealed' });
    const record = deserializeRecord(lease?.job.payload ?? '');
    const phase = { kind: 'failed', error: { code: 'prover_failed', message: '' } } as const;
    const payload = serializeRecord({ ...record, phase });
    await store.update({ ...fenced, state: 'failed', payload, nowMs: 1 });
    expect(await store.getValue(scope, 'one', deliveryName)).toBe('sealed');
    expect((await eraseExpired(store, 30, 31 * 86_400_000)).erased).toBe(1);
    expect(await store.getValue(scope, 'one', deliveryName)).toBeUndefined();
  });

  it('leaves no address of a job that paid nobody, skipped recipients included', async () => {
    const world = await createWorld({ proverMode: 'mock' });
    const store = createMemoryStore();
    const people = [...world.holders, createFakeHolder(99)];
    const recipients = people.map(({ address }) => ({ recipientAddress: address, amount: '1' }));
    await claim(world, store, 'one', { recipients, unregistered: 'skip' });
    start(world, store);
    await untilDone(store, 'one');
    const addressesIn = async (): Promise<number> => {
      const payload = (await store.get(scope, 'one'))?.payload.toLowerCase() ?? '';
      return people.filter(({ address }) => payload.includes(address.toLowerCase())).length;
    };
    expect(await addressesIn()).toBe(4);
    await eraseExpired(store, 30, world.clock.nowMs() + 31 * 86_400_000);
    expect(await addressesIn()).toBe(0);
  });

  it('yields after each job, because each write waits for the disk', async () => {
    const world = await createWorld({ proverMode: 'mock' });
    const store = createMemoryStore();
    const keys = ['one', 'two', 'three', 'four'];
    for (const key of keys) {
      await claim(world, store, key);
    }
    start(world, store);
    await untilDone(store, ...keys);
    let turns = 0;
    let isOver = false;
    const tick = (): void => {
      turns += 1;
      if (!isOver) {
        setImmediate(tick);
      }
    };
    setImmediate(tick);
    expect((await eraseExpired(store, 30, world.clock.nowMs() + 31 * 86_400_000)).erased).toBe(4);
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(4);
  });
});
