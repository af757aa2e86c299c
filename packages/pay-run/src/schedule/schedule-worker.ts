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
import { planOccurrence } from './definition.ts';
import {
  formatId,
  hasEnded,
  type Schedule,
  type ScheduleState,
  type ScheduleStore,
} from './schedule-store.ts';

export type ScheduleWorkerDeps = Omit<AdvanceDeps, 'schedules'> & {
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

/** @returns one pass over all schedules. Never throws */
export function createSchedulePass(deps: ScheduleWorkerDeps): () => Promise<void> {
  const { schedules, log, nowMs, workerId } = deps;
  /** When an occurrence that could not go on is tried again. */
  const resting = new Map<string, number>();
  /** The latest payment of each schedule that is noticed. After a restart all are looked at again. */
  const cursors = new Map<string, number>();

  async function notice(all: readonly Schedule[], noticed: ReadonlySet<string>): Promise<void> {
    const untilMs = nowMs();
    for (const { definition, state } of all) {
      if (state === 'removed') {
        continue;
      }
      const cursor = `${definition.name} ${definition.createdAtMs}`;
      for (const day of listDays(definition, cursors.get(cursor) ?? definition.createdAtMs)) {
        if (day.payAtMs - definition.prepareMs > untilMs) {
          break;
        }
        if (!noticed.has(formatId(definition.name, day.period))) {
          await schedules.notice(planOccurrence(definition, day));
        }
        cursors.set(cursor, day.payAtMs);
      }
    }
  }

  async function work(id: string, states: ReadonlyMap<string, ScheduleState>): Promise<void> {
    const leased = await schedules.lease(id, workerId, leaseMs);
    if (leased === undefined) {
      return;
    }
    const { state: before, plan } = leased.occurrence;
    let current = leased;
    try {
      current = await advance(leased, states.get(plan.schedule), deps);
      resting.delete(id);
    } catch (error) {
      const code = errorCodeOf(error) ?? 'internal_error';
      if (!resting.has(id)) {
        log.warn({ schedule: plan.schedule, period: plan.period, code }, 'schedule: not yet');
      }
      resting.set(id, nowMs() + restMs);
      // What is prepared keeps its state: the jobs of the agent say how it ends.
      if (before === 'due' && !passesByItself(error)) {
        current = await keepCauseOfDue(id, leased, error);
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

  /** The preparation may have been decided before the error. */
  async function keepCauseOfDue(
    id: string,
    leased: Parameters<typeof keepCause>[0],
    error: unknown,
  ): Promise<Parameters<typeof keepCause>[0]> {
    const [schedule = '', period = ''] = id.split(' ');
    const stored = await schedules.find(schedule, period);
    return stored?.state === 'due' ? await keepCause(leased, error, deps) : leased;
  }

  return async () => {
    try {
      const all = await schedules.list();
      if (all.length === 0) {
        return;
      }
      const ids = new Set((await schedules.listNoticed()).map(({ id }) => id));
      await notice(all, ids);
      const states = new Map(all.map(({ definition, state }) => [definition.name, state]));
      for (const { id, state } of await schedules.listNoticed()) {
        // A clock that was set back ends a rest that would last for years.
        const untilMs = resting.get(id) ?? 0;
        const isResting = nowMs() < untilMs && untilMs - nowMs() <= restMs;
        if (!hasEnded({ state }) && !isResting) {
          await work(id, states);
        }
      }
    } catch (error) {
      log.warn({ code: errorCodeOf(error) ?? 'internal_error' }, 'schedule: a pass failed');
    }
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
      await pass();
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
