/**
 * The worker: takes jobs from the store under a lease, runs them, renews the lease while they run, and
 * starts over with whatever an earlier process left unfinished. Oldest jobs first.
 *
 * @module
 */
import { errorCodeOf } from '@pool/core';
import type { FencedName, JobLease, JobStore } from '@pool/idempotency';
import type { Clock, JobJournal } from '../ports.ts';
import { BlockedRunError, InterruptedRunError } from './interrupted-run.ts';
import { keepLease, renewalsPerLease } from './keep-lease.ts';
import { deserializeRecord } from './record.ts';
import type { DisbursementDeps, RunEvent } from './run.ts';
import { runDisbursement } from './run-disbursement.ts';

/** Counts on when the wall clock steps. */
function monotonicMs(): number {
  return performance.now();
}

export type JobEvent =
  | RunEvent
  /** The run ended without an outcome; the job will be taken up again. */
  | { readonly kind: 'interrupted'; readonly reason: string };

export type JobRunnerOptions = {
  readonly store: JobStore;
  /**
   * The employer whose jobs are run. The platform files a settlement under whoever's edge token brings it, so another employer's job,
   * left in this store by an agent that served it before, waits for an agent of its own.
   */
  readonly scope: string;
  readonly clock: Clock;
  readonly deps: Omit<DisbursementDeps, 'onEvent' | 'clock'>;
  /** Names this process in the store. */
  readonly workerId: string;
  /** Jobs underway at once. Proofs still come one by one, and so do settlements of one allowance. */
  readonly concurrency: number;
  readonly leaseTtlMs: number;
  /** Pause between two looks for work. */
  readonly idleMs: number;
  /** @param requestId - of the request that the job was accepted from; undefined where its record does not tell */
  readonly onEvent: (jobKey: string, event: JobEvent, requestId: string | undefined) => void;
};

export type JobRunner = {
  /** Looks for work at once instead of after the pause. */
  wake(): void;
  /**
   * Takes up a job whose cancellation was stored, before all others: its run is broken off where it stands, as a crash
   * would, and begins again with the wish. Waits for nothing.
   */
  cancel(key: string): void;
  /** Ends all runs at their next safe point and gives their leases back. */
  stop(): Promise<void>;
};

/** States in which a job still needs a worker. */
const openStates = ['accepted', 'submitted'] as const;

/** How long an interrupted job rests before anybody takes it up again: longer each time it happens. */
const minRestMs = 3_000;
const maxRestMs = 60_000;

/** @throws Error when the store may wait so long for another process that a lease could not be renewed in time */
export function startJobRunner(options: JobRunnerOptions): JobRunner {
  const { store, clock, leaseTtlMs } = options;
  if (renewalsPerLease * store.longestWaitMs > leaseTtlMs) {
    throw new Error(
      `a lease of ${leaseTtlMs} ms is too short for a job store that may wait ${store.longestWaitMs} ms for another process; it takes at least ${renewalsPerLease} times as long`,
    );
  }
  const stopping = new AbortController();
  const active = new Set<Promise<void>>();
  /** How to break off the run of a key. */
  const runs = new Map<string, () => void>();
  const resting = new Map<string, FencedName>();
  /** Keys whose cancellation this process knows of, and those of them that no run has begun with yet. */
  const cancelled = new Set<string>();
  const hurried = new Set<string>();
  const rests = new Map<string, number>();
  /** Why the last run of a key was interrupted: a job that is blocked is told once. */
  const blocked = new Map<string, string>();
  let wakeUp = (): void => undefined;

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
    for (const key of hurried) {
      const lease = runs.has(key) ? undefined : await takeJob(key);
      if (lease !== undefined) {
        hurried.delete(key);
        return lease;
      }
      if (!(await isOpen(key))) {
        hurried.delete(key);
        cancelled.delete(key);
      }
    }
    return active.size < options.concurrency ? takeJob(undefined) : undefined;
  }

  function takeJob(key: string | undefined): Promise<JobLease | undefined> {
    return store.lease({
      workerId: options.workerId,
      states: openStates,
      scope: options.scope,
      key,
      except: [...runs.keys()],
      ttlMs: leaseTtlMs,
      nowMs: clock.nowMs(),
    });
  }

  async function isOpen(key: string): Promise<boolean> {
    const state = (await store.get(options.scope, key))?.state;
    return openStates.some((open) => open === state);
  }

  /** @param takenAtMs - when the lease was asked for, on the clock that does not step */
  async function runLeased(lease: JobLease, takenAtMs: number): Promise<void> {
    const { scope, key } = lease.job;
    const fenced = { scope, key, fence: lease.fence };
    const lost = new AbortController();
    runs.set(key, () => lost.abort());
    resting.delete(key);
    const signal = AbortSignal.any([lost.signal, stopping.signal]);
    let requestId: string | undefined;
    const tell = (event: JobEvent): void => options.onEvent(key, event, requestId);
    const held = keepLease({
      ...{ store, fenced, ttlMs: leaseTtlMs, takenAtMs, monotonicMs },
      nowMs: clock.nowMs,
      onLost: () => lost.abort(),
    });
    try {
      const record = deserializeRecord(lease.job.payload);
      ({ requestId } = record);
      await runDisbursement(
        { record, journal: createJournal(lease), signal },
        { ...options.deps, clock, onEvent: tell },
      );
      rests.delete(key);
      blocked.delete(key);
      cancelled.delete(key);
      held.end();
      await store.release(fenced).catch(() => undefined);
    } catch (error) {
      held.end();
      const isHurried = hurried.has(key);
      const reason = isHurried ? 'it is cancelled' : describe(error);
      if (error instanceof BlockedRunError) {
        // It stays so until the agent is started again, or the chain tells more.
        rests.set(key, maxRestMs);
      }
      if (!(error instanceof BlockedRunError) || blocked.get(key) !== reason) {
        tell({ kind: 'interrupted', reason });
      }
      blocked.set(key, reason);
      await (isHurried ? store.release(fenced).catch(() => undefined) : restJob(fenced));
    } finally {
      runs.delete(key);
    }
  }

  /** The job keeps its lease for a while but no place among the active ones, so others get their turn. */
  async function restJob(fenced: FencedName): Promise<void> {
    if (stopping.signal.aborted) {
      await store.release(fenced).catch(() => undefined);
      return;
    }
    const { key } = fenced;
    const ttlMs = rests.get(key) ?? minRestMs;
    rests.set(key, Math.min(2 * ttlMs, maxRestMs));
    resting.set(key, fenced);
    await store.renew({ ...fenced, ttlMs, nowMs: clock.nowMs() }).catch(() => undefined);
  }

  function createJournal(lease: JobLease): JobJournal {
    const { scope, key } = lease.job;
    const fenced = { scope, key, fence: lease.fence };
    return {
      async save(state, payload) {
        await store.update({ ...fenced, state, payload, nowMs: clock.nowMs() });
      },
      putOnce: (name, value) => store.putOnce({ ...fenced, name, value }),
      getValue: (name) => store.getValue(scope, key, name),
    };
  }

  const running = loop();
  return {
    wake: () => wakeUp(),
    cancel(key) {
      const rest = resting.get(key);
      resting.delete(key);
      if (rest !== undefined) {
        void store.release(rest).then(wakeUp, () => undefined);
      }
      // Once: whoever asks again waits for the same end.
      if (!cancelled.has(key)) {
        cancelled.add(key);
        hurried.add(key);
        runs.get(key)?.();
      }
      wakeUp();
    },
    async stop() {
      stopping.abort();
      await running;
      await Promise.allSettled(active);
      // Else whoever is started next would wait for the rest of their leases.
      await Promise.allSettled([...resting.values()].map((rest) => store.release(rest)));
    },
  };
}

/** For logs: codes, and never the message of an unknown error, which may quote anything. */
function describe(error: unknown): string {
  if (error instanceof InterruptedRunError) {
    const cause = errorCodeOf(error.cause);
    return cause === undefined ? error.message : `${error.message} (${cause})`;
  }
  return errorCodeOf(error) ?? (error instanceof Error ? error.name : 'unknown error');
}
