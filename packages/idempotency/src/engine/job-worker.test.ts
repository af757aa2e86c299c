// A cancellation that another process received is only in the store that workers share.
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { JobStore } from '../job-store.ts';
import { createMemoryStore } from '../memory-store.ts';
import { BlockedRunError } from './interruption.ts';
import { cancellationName, type JobRun, type JobWorker, startJobWorker } from './job-worker.ts';
import { renewalsPerLease } from './keep-lease.ts';

const name = { scope: 's', key: 'k' };
const leaseTtlMs = 60_000;

// Workers renew their leases, and look for cancellations, when a test says so.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function start(store: JobStore, perform: (run: JobRun) => Promise<void>): JobWorker {
  const worker = startJobWorker({
    ...{ store, scope: 's', workerId: 'w', openStates: ['accepted'], perform },
    ...{ concurrency: 1, leaseTtlMs, idleMs: 5, onInterrupted: () => undefined },
    clock: {
      nowMs: Date.now,
      steadyMs: Date.now,
      sleep: async (milliseconds, signal) => {
        await delay(milliseconds, undefined, { signal });
      },
    },
  });
  onTestFinished(() => worker.stop());
  return worker;
}

async function createStore(): Promise<JobStore> {
  const store = createMemoryStore();
  const job = { ...name, fingerprint: 'f', state: 'accepted', payload: '{}', nowMs: 1 };
  await store.claim(job);
  return store;
}

/** A run that waits until it is ended, and ends its job when it begins with a cancellation. */
function createRun(runs: string[], end: (run: JobRun) => Promise<never>) {
  return async (run: JobRun): Promise<void> => {
    const isCancelled = (await run.journal.getValue(cancellationName)) !== undefined;
    runs.push(isCancelled ? 'cancelled' : 'begun');
    if (!isCancelled) {
      await end(run);
    }
    await run.journal.save('failed', '{}');
  };
}

async function waitForEnd({ signal }: JobRun): Promise<never> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  throw new Error('ended');
}

it.each([
  ['runs', waitForEnd],
  [
    'rests',
    async () => {
      throw new BlockedRunError({ code: 'blocked', message: 'why' });
    },
  ],
] as const)(
  'a job that %s here is cancelled at another worker, when leases are renewed',
  async (_, end) => {
    const store = await createStore();
    const runs: string[] = [];
    start(store, createRun(runs, end));
    await expect.poll(() => runs).toEqual(['begun']);
    const other = start(store, async () => undefined);
    await store.ask({ ...name, name: cancellationName, value: '{}' });
    other.cancel(name.key);
    vi.advanceTimersByTime(leaseTtlMs / renewalsPerLease);
    await expect.poll(async () => (await store.get('s', 'k'))?.state).toBe('failed');
    expect(runs).toEqual(['begun', 'cancelled']);
  },
);

it('a run that began with its cancellation is not ended by it', async () => {
  const store = await createStore();
  await store.ask({ ...name, name: cancellationName, value: '{}' });
  let ended = false;
  const begun: boolean[] = [];
  const end = Promise.withResolvers<void>();
  start(store, async ({ signal }) => {
    begun.push(true);
    signal.addEventListener('abort', () => {
      ended = true;
    });
    await end.promise;
  });
  await expect.poll(() => begun).toEqual([true]);
  await vi.advanceTimersByTimeAsync(leaseTtlMs);
  end.resolve();
  expect([begun, ended]).toEqual([[true], false]);
});
