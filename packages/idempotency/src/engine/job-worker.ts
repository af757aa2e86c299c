/**
 * The worker: leases jobs from the store, oldest first, runs them, and renews their leases meanwhile. It continues jobs that
 * an earlier process left unfinished.
 *
 * @module
 */
import { errorCodeOf } from '@pool/core';
import type { FencedName, JobLease, JobStore, StoredJob } from '../job-store.ts';
import { BlockedRunError, InterruptedRunError } from './interruption.ts';
import { keepLease, renewalsPerLease } from './keep-lease.ts';
import type { EngineClock } from './waiting.ts';

/** Name of the write-once value that records a request to cancel. It is stored without the lease, and never taken back. */
export const cancellationName = 'cancellation';

/** A clock that does not step when the wall clock does. */
function monotonicMs(): number {
  return performance.now();
}

/** The durable record of one job, written under the worker's lease. */
export type JobJournal = {
  /** The data must be on disk when it resolves. @throws if the lease was lost */
  save(state: string, payload: string): Promise<void>;
  /** Stores a named text if none is stored, and returns the stored one. */
  putOnce(name: string, value: string): Promise<string>;
  getValue(name: string): Promise<string | undefined>;
};

/** One run of a leased job. */
export type JobRun = {
  readonly job: StoredJob;
  readonly journal: JobJournal;
  /** Aborted on shutdown, on a lost lease and for a cancellation. */
  readonly signal: AbortSignal;
  /** @param isIdle - the run waits for others, for hours if need be. It computes nothing and holds no lock */
  setIdle(isIdle: boolean): void;
};

export type WorkerOptions = {
  readonly store: JobStore;
  /** The scope whose jobs are run. */
  readonly scope: string;
  /** States in which a job needs a worker. */
  readonly openStates: readonly string[];
  readonly clock: EngineClock;
  /** Names this process in the store. */
  readonly workerId: string;
  /** Jobs that work at once. Idle runs do not count. */
  readonly concurrency: number;
  readonly leaseTtlMs: number;
  /** Pause between two searches for work. */
  readonly idleMs: number;
  /** Works on a job until it has ended. @throws when it stopped without an outcome: the job is run again */
  readonly perform: (run: JobRun) => Promise<void>;
  readonly onInterrupted: (job: StoredJob, reason: string) => void;
};

export type JobWorker = {
  /** Searches for work at once instead of after the pause. */
  wake(): void;
  /**
   * Runs a job whose cancellation was stored, before all others. A run that is underway ends where it is, as in a crash,
   * and begins again with the cancellation. Returns at once.
   */
  cancel(key: string): void;
  /** Ends all runs at their next safe point and releases their leases. */
  stop(): Promise<void>;
};

/** Runs in memory, waiting ones included. Each holds its batch, up to half a megabyte. */
const maxRuns = 1_024;

/** How long an interrupted job waits before it is run again. The delay doubles each time. */
const minRestMs = 3_000;
const maxRestMs = 60_000;

/** @throws Error when the store may wait for another process for too long to renew a lease in time */
export function startJobWorker(options: WorkerOptions): JobWorker {
  const { store, clock, leaseTtlMs } = options;
  if (renewalsPerLease * store.longestWaitMs > leaseTtlMs) {
    throw new Error(
      `a lease of ${leaseTtlMs} ms is too short for a job store that may wait ${store.longestWaitMs} ms for another process; it takes at least ${renewalsPerLease} times as long`,
    );
  }
  const stopping = new AbortController();
  const active = new Set<Promise<void>>();
  /** Ends the run of a key. */
  const runs = new Map<string, () => void>();
  /** Keys of runs that only wait. */
  const idling = new Set<string>();
  const resting = new Map<string, FencedName>();
  /** Keys whose cancellation this process knows. */
  const cancelled = new Set<string>();
  /** Those of them whose run has not begun with the cancellation yet. They are leased before all others. */
  const cancelledFirst = new Set<string>();
  /** The next delay of each interrupted key, milliseconds. */
  const restsMs = new Map<string, number>();
  /** Why the last run of a key was interrupted. The event of a blocked job is sent once. */
  const blocked = new Map<string, string>();
  let wakeUp = (): void => undefined;
  let isListening = false;

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      const takenAtMs = monotonicMs();
      const lease = await takeNext().catch(() => undefined);
      if (lease !== undefined) {
        const work = runLeased(lease, takenAtMs).finally(() => {
          active.delete(work);
          wakeUp();
        });
        active.add(work);
        continue;
      }
      await idle();
    }
  }

  async function idle(): Promise<void> {
    const woken = new AbortController();
    wakeUp = () => woken.abort();
    const signal = AbortSignal.any([woken.signal, stopping.signal]);
    await clock.sleep(options.idleMs, signal).catch(() => undefined);
  }

  async function takeNext(): Promise<JobLease | undefined> {
    for (const key of cancelledFirst) {
      const lease = runs.has(key) ? undefined : await takeJob(key);
      if (lease !== undefined) {
        cancelledFirst.delete(key);
        return lease;
      }
      if (!(await isOpen(key))) {
        cancelledFirst.delete(key);
        cancelled.delete(key);
      }
    }
    const isFree = active.size - idling.size < options.concurrency && active.size < maxRuns;
    return isFree ? takeJob(undefined) : undefined;
  }

  function takeJob(key: string | undefined): Promise<JobLease | undefined> {
    return store.lease({
      workerId: options.workerId,
      states: options.openStates,
      scope: options.scope,
      key,
      except: [...runs.keys()],
      ttlMs: leaseTtlMs,
      nowMs: clock.nowMs(),
    });
  }

  async function isOpen(key: string): Promise<boolean> {
    const state = (await store.get(options.scope, key))?.state;
    return state !== undefined && options.openStates.includes(state);
  }

  async function isCancelled(key: string): Promise<boolean> {
    return (await store.getValue(options.scope, key, cancellationName)) !== undefined;
  }

  /** Another process that received a cancellation can only store it. As often as leases are renewed. */
  async function listen(): Promise<void> {
    if (isListening) {
      return;
    }
    isListening = true;
    for (const key of new Set([...runs.keys(), ...resting.keys()])) {
      if (!cancelled.has(key) && (await isCancelled(key).catch(() => false))) {
        cancel(key);
      }
    }
    isListening = false;
  }

  /** @param takenAtMs - when the lease was requested, on the clock that does not step */
  async function runLeased(lease: JobLease, takenAtMs: number): Promise<void> {
    const { scope, key } = lease.job;
    const fenced = { scope, key, fence: lease.fence };
    const lost = new AbortController();
    runs.set(key, () => lost.abort());
    resting.delete(key);
    const signal = AbortSignal.any([lost.signal, stopping.signal]);
    const held = keepLease({
      ...{ store, fenced, ttlMs: leaseTtlMs, takenAtMs, monotonicMs },
      nowMs: clock.nowMs,
      onLost: () => lost.abort(),
    });
    try {
      if (await isCancelled(key)) {
        cancelled.add(key);
      }
      await options.perform({
        job: lease.job,
        journal: createJournal(fenced),
        signal,
        setIdle: (isIdle) => setIdle(key, isIdle),
      });
      restsMs.delete(key);
      blocked.delete(key);
      cancelled.delete(key);
      held.end();
      await store.release(fenced).catch(() => undefined);
    } catch (error) {
      held.end();
      const isCancelled = cancelledFirst.has(key);
      const reason = isCancelled ? 'it is cancelled' : describe(error);
      if (error instanceof BlockedRunError) {
        // It stays blocked until the agent is restarted, or the chain shows more.
        restsMs.set(key, maxRestMs);
      }
      if (!(error instanceof BlockedRunError) || blocked.get(key) !== reason) {
        options.onInterrupted(lease.job, reason);
      }
      blocked.set(key, reason);
      await (isCancelled ? store.release(fenced).catch(() => undefined) : restJob(fenced));
    } finally {
      runs.delete(key);
      idling.delete(key);
    }
  }

  function setIdle(key: string, isIdle: boolean): void {
    if (!isIdle) {
      idling.delete(key);
    } else if (!idling.has(key)) {
      idling.add(key);
      wakeUp();
    }
  }

  /** The job keeps its lease while it waits, but not its place among the active jobs, so other jobs can run. */
  async function restJob(fenced: FencedName): Promise<void> {
    if (stopping.signal.aborted) {
      await store.release(fenced).catch(() => undefined);
      return;
    }
    const { key } = fenced;
    const ttlMs = restsMs.get(key) ?? minRestMs;
    restsMs.set(key, Math.min(2 * ttlMs, maxRestMs));
    resting.set(key, fenced);
    await store.renew({ ...fenced, ttlMs, nowMs: clock.nowMs() }).catch(() => undefined);
  }

  function createJournal(fenced: FencedName): JobJournal {
    const { scope, key } = fenced;
    return {
      async save(state, payload) {
        await store.update({ ...fenced, state, payload, nowMs: clock.nowMs() });
      },
      putOnce: (name, value) => store.putOnce({ ...fenced, name, value }),
      getValue: (name) => store.getValue(scope, key, name),
    };
  }

  function cancel(key: string): void {
    const rest = resting.get(key);
    resting.delete(key);
    if (rest !== undefined) {
      void store.release(rest).then(wakeUp, () => undefined);
    }
    // Once only: a second request waits for the same end.
    if (!cancelled.has(key)) {
      cancelled.add(key);
      cancelledFirst.add(key);
      runs.get(key)?.();
    }
    wakeUp();
  }

  const running = loop();
  const listening = setInterval(() => void listen(), leaseTtlMs / renewalsPerLease);
  return {
    wake: () => wakeUp(),
    cancel,
    async stop() {
      clearInterval(listening);
      stopping.abort();
      await running;
      await Promise.allSettled(active);
      // Otherwise the next process would wait for the rest of these leases.
      await Promise.allSettled([...resting.values()].map((rest) => store.release(rest)));
    },
  };
}

/** For logs: codes only, because the message of an unknown error may quote confidential values. */
function describe(error: unknown): string {
  if (error instanceof InterruptedRunError) {
    const cause = errorCodeOf(error.cause);
    return cause === undefined ? error.message : `${error.message} (${cause})`;
  }
  return errorCodeOf(error) ?? (error instanceof Error ? error.name : 'unknown error');
}
