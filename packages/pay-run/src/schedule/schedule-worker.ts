/**
 * The worker of the running agent: notices what is due, and brings each occurrence one step further. Agents on one store share the work by
 * leases, and what one of them decided stays.
 *
 * @module
 */
import { errorCodeOf } from '@pool/core';
import { passesByItself } from '../agent/agent-client.ts';
import { type AdvanceDeps, advance, keepCause } from './advance.ts';
import { listDays } from './calendar.ts';
import { findStartMs, planOccurrence } from './definition.ts';
import {
  formatId,
  hasEnded,
  type LeasedOccurrence,
  type Schedule,
  type ScheduleStore,
} from './schedule-store.ts';

export type ScheduleWorkerDeps = Omit<AdvanceDeps, 'schedules' | 'unchanged'> & {
  readonly schedules: ScheduleStore;
  /** Names this process in the store. */
  readonly workerId: string;
  /** Names and codes only. */
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
};

/** Longer than a preparation usually takes. If it takes longer, another agent sends the same keys. */
const leaseMs = 300_000;
/** Pause after an occurrence that cannot go on. */
const restMs = 60_000;

/** @returns one pass over all schedules, which ends early when the signal is aborted. Never throws */
export function createSchedulePass(
  deps: ScheduleWorkerDeps,
): (signal?: AbortSignal) => Promise<void> {
  const { schedules, log, nowMs, workerId } = deps;
  const unchanged = new Map<string, string>();
  /** When an occurrence that could not go on is tried again. */
  const resting = new Map<string, number>();
  /** The latest payment of each schedule that is noticed. After a restart all are looked at again. */
  const cursors = new Map<string, number>();
  /** Damaged schedules that are in the log. */
  const told = new Set<string>();

  async function notice(
    { definition, state }: Schedule,
    noticed: ReadonlySet<string>,
  ): Promise<void> {
    if (state === 'removed') {
      return;
    }
    const cursor = `${definition.name} ${definition.createdAtMs}`;
    for (const day of listDays(definition, cursors.get(cursor) ?? findStartMs(definition))) {
      if (day.payAtMs - definition.prepareMs > nowMs()) {
        return;
      }
      if (!noticed.has(formatId(definition.name, day.period))) {
        await schedules.notice(planOccurrence(definition, day));
      }
      cursors.set(cursor, day.payAtMs);
    }
  }

  async function work(id: string): Promise<void> {
    const leased = await schedules.lease(id, workerId, leaseMs);
    if (leased === undefined) {
      return;
    }
    const { state: before, plan } = leased.occurrence;
    let current = leased;
    try {
      // As it is now: a person may have paused or removed it since the pass began. A withdrawal ends whatever it says, or if it is damaged.
      const { withdrawal } = leased.occurrence;
      const schedule = withdrawal === undefined ? await schedules.find(plan.schedule) : undefined;
      current = await advance(leased, schedule, { ...deps, unchanged });
      resting.delete(id);
    } catch (error) {
      const code = errorCodeOf(error) ?? 'internal_error';
      if (!resting.has(id)) {
        log.warn({ schedule: plan.schedule, period: plan.period, code }, 'schedule: not yet');
      }
      resting.set(id, nowMs() + restMs);
      if (!passesByItself(error)) {
        current = await keepReason(leased, error);
      }
    } finally {
      await schedules.release(current).catch(() => undefined);
    }
    const { state, cause } = current.occurrence;
    if (state !== before) {
      const fields = { schedule: plan.schedule, period: plan.period, state, code: cause?.code };
      log.info(fields, 'schedule');
    }
  }

  /** Something may have been decided before the error, also by another agent. */
  async function keepReason(leased: LeasedOccurrence, error: unknown): Promise<LeasedOccurrence> {
    const { plan } = leased.occurrence;
    const stored = await schedules.findOccurrence(plan.schedule, plan.period);
    return stored === undefined || hasEnded(stored)
      ? leased
      : await keepCause({ ...leased, occurrence: stored }, error, { schedules, nowMs });
  }

  /** One that is damaged must not keep the others from their time. @returns false if it failed */
  async function apart(what: object, step: () => Promise<void>): Promise<boolean> {
    try {
      await step();
      return true;
    } catch (error) {
      const code = errorCodeOf(error) ?? 'internal_error';
      log.warn({ ...what, code }, 'schedule: a step failed');
      return false;
    }
  }

  async function passAll(signal: AbortSignal | undefined): Promise<void> {
    const { schedules: all, damaged } = await schedules.list();
    for (const schedule of damaged) {
      if (!told.has(schedule)) {
        log.warn({ schedule, code: 'store_damaged' }, 'schedule: it cannot be read');
        told.add(schedule);
      }
    }
    if (all.length + damaged.length === 0) {
      return;
    }
    const ids = new Set((await schedules.listNoticed()).map(({ id }) => id));
    for (const one of all) {
      await apart({ schedule: one.definition.name }, () => notice(one, ids));
    }
    for (const { id, state } of await schedules.listNoticed()) {
      // A clock that was set back ends a rest that would last for years.
      const untilMs = resting.get(id) ?? 0;
      const isResting = nowMs() < untilMs && untilMs - nowMs() <= restMs;
      if (!hasEnded({ state }) && !isResting && signal?.aborted !== true) {
        const isDone = await apart({ occurrence: id }, () => work(id));
        if (!isDone) {
          resting.set(id, nowMs() + restMs);
        }
      }
    }
  }

  return async (signal) => {
    await apart({}, () => passAll(signal));
  };
}

export type ScheduleWorker = { stop(): Promise<void> };

/** Runs passes until it is stopped. */
export function startSchedules(
  deps: ScheduleWorkerDeps & {
    readonly idleMs: number;
    readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  },
): ScheduleWorker {
  const stopping = new AbortController();
  const { signal } = stopping;
  const pass = createSchedulePass(deps);

  async function loop(): Promise<void> {
    while (!signal.aborted) {
      await pass(signal);
      await deps.sleep(deps.idleMs, signal).catch(() => undefined);
    }
  }

  const running = loop();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
