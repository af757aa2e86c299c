// The worker's leases while clocks step and the store is blocked: no job is worked on twice by one process, and no run
// continues under a lease that it has lost.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMemoryStore, createSqliteStore, type JobStore } from '@pool/idempotency';
import type { JobWorker } from '@pool/idempotency/engine';
import { afterEach, describe, expect, it } from 'vitest';
import { checkDisbursement } from '../check/check-disbursement.ts';
import { createWorld, type World } from '../fixtures/fake-world.ts';
import { readView } from '../fixtures/view-record.ts';
import { createRecord, serializeRecord } from './job/record.ts';
import { type JobEvent, type JobRunnerOptions, startJobRunner } from './job-runner.ts';

const scope = '5b1d1f0e-6f55-4d3a-9d53-6f1f2c1a7e01';
const running: JobWorker[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((runner) => runner.stop()));
});

async function claim(world: World, store: JobStore, key: string): Promise<void> {
  const checked = await checkDisbursement(world.createRequest(), world.checks);
  const payload = serializeRecord(createRecord(checked, scope, key));
  const nowMs = world.clock.nowMs();
  await store.claim({ scope, key, fingerprint: key, state: 'accepted', payload, nowMs });
}

function start(world: World, store: JobStore, changes: Partial<JobRunnerOptions> = {}) {
  const events: JobEvent[] = [];
  const { onEvent: _onEvent, clock: _clock, ...deps } = world.createDeps(async () => undefined, []);
  const runner = startJobRunner({
    ...{ store, scope, deps, clock: world.clock, workerId: 'worker', concurrency: 4 },
    ...{ leaseTtlMs: 60_000, idleMs: 10, onEvent: (_key, event) => events.push(event) },
    ...changes,
  });
  running.push(runner);
  return { runner, events };
}

async function untilDone(store: JobStore, key: string): Promise<void> {
  await expect
    .poll(async () => (await store.get(scope, key))?.state, { interval: 5 })
    .toBeOneOf(['done', 'failed']);
}

/** A store that counts how often each job is leased. */
function countLeases(store: JobStore) {
  const leases: string[] = [];
  const counting: JobStore = {
    ...store,
    async lease(input) {
      const lease = await store.lease(input);
      leases.push(...(lease === undefined ? [] : [lease.job.key]));
      return lease;
    },
  };
  return { counting, leases };
}

describe('a wall clock that steps', () => {
  it('does not let a worker lease the job that it is working on', async () => {
    const world = await createWorld({ permit: true });
    world.platform.holdBack = true;
    const { counting, leases } = countLeases(createMemoryStore());
    await claim(world, counting, 'june');
    // The fake clock runs at each wait. Only the steps may move it here, or the deadline passes on a fast machine.
    const pause = (_ms: number, signal: AbortSignal) => sleep(1, undefined, { signal });
    const { events } = start(world, counting, { clock: { ...world.clock, sleep: pause } });
    await expect.poll(() => world.platform.posts).toBe(1);
    for (let step = 0; step < 10; step += 1) {
      world.clock.advanceSeconds(120);
      await sleep(10);
    }
    world.platform.holdBack = false;
    world.platform.rows.clear();
    await untilDone(counting, 'june');
    expect(leases).toEqual(['june']);
    expect(events.some(({ kind }) => kind === 'interrupted')).toBe(false);
    expect(world.chain.funds).toBe(1);
  });

  it('lets another process take over the job; the first one notices, and the job is paid once', async () => {
    const world = await createWorld({ permit: true });
    world.platform.holdBack = true;
    const store = createMemoryStore();
    await claim(world, store, 'june');
    const first = start(world, store, { leaseTtlMs: 90, workerId: 'one' });
    await expect.poll(() => world.platform.posts).toBe(1);
    const ahead = { ...world.clock, nowMs: () => world.clock.nowMs() + 7_200_000 };
    const { counting, leases } = countLeases(store);
    const second = start(world, counting, { workerId: 'two', clock: ahead });
    await expect
      .poll(() => first.events)
      .toContainEqual({ kind: 'interrupted', reason: expect.stringContaining('lease') });
    expect(leases).toEqual(['june']);
    await first.runner.stop();
    world.platform.holdBack = false;
    await untilDone(store, 'june');
    expect(second.events.some(({ kind }) => kind === 'outcome')).toBe(true);
    expect(world.chain.funds).toBeLessThanOrEqual(1);
    expect(world.platform.postedRoots.size).toBe(1);
  });
});

describe('a store that is blocked', () => {
  it('ends a run whose lease could not be renewed in time', async () => {
    const world = await createWorld({ permit: true });
    world.platform.holdBack = true;
    const store = createMemoryStore();
    const busy = Object.assign(new Error('busy'), { code: 'store_busy' });
    let isBlocked = false;
    const blocked: JobStore = {
      ...store,
      renew: (input) => (isBlocked ? Promise.reject(busy) : store.renew(input)),
    };
    await claim(world, blocked, 'june');
    const { events } = start(world, blocked, { leaseTtlMs: 60 });
    await expect.poll(() => world.platform.posts).toBe(1);
    isBlocked = true;
    await expect
      .poll(() => events)
      .toContainEqual({ kind: 'interrupted', reason: expect.stringContaining('lease') });
    isBlocked = false;
    world.platform.holdBack = false;
    world.platform.rows.clear();
    await untilDone(store, 'june');
    expect(world.chain.funds).toBe(1);
  });

  it('pays once after another writer blocked it for longer than the lease', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pool-blocked-'));
    const path = join(folder, 'jobs.sqlite');
    const store = createSqliteStore({ path, busyTimeoutMs: 100 });
    const other = new DatabaseSync(path);
    try {
      const world = await createWorld({ permit: true });
      await claim(world, store, 'june');
      let isHeld = false;
      const {
        onEvent: _onEvent,
        clock: _clock,
        ...deps
      } = world.createDeps(async (point) => {
        if (point === 'signing.signed' && !isHeld) {
          isHeld = true;
          other.exec('BEGIN IMMEDIATE');
          setTimeout(() => other.exec('ROLLBACK'), 1_000);
        }
      }, []);
      const { events } = start(world, store, { deps, leaseTtlMs: 400 });
      await untilDone(store, 'june');
      expect(events.some(({ kind }) => kind === 'interrupted')).toBe(true);
      const job = await store.get(scope, 'june');
      expect(readView(job?.payload).result?.status).toBe('completed');
      expect(world.chain.funds).toBe(1);
    } finally {
      await running.splice(0)[0]?.stop();
      other.close();
      await store.close();
      rmSync(folder, { recursive: true });
    }
  });

  it('is refused when the worker starts if it can block longer than a third of a lease', async () => {
    const world = await createWorld();
    const store: JobStore = { ...createMemoryStore(), longestWaitMs: 2_001 };
    expect(() => start(world, store, { leaseTtlMs: 6_000 })).toThrow(/lease of 6000 ms.*2001 ms/);
  });
});
