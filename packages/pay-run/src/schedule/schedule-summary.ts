/**
 * The schedules of an agent in a few numbers, for a person who looks at it.
 *
 * @module
 */
import type { JobStorePlace } from '@pool/idempotency';
import { withStore } from '../ledger/stored-keys.ts';
import {
  createScheduleStore,
  describeDamagedOccurrence,
  describeDamagedSchedule,
  hasEnded,
} from './schedule-store.ts';
import { type AheadState, lookUp, planNext } from './schedule-view.ts';

export type ScheduleSummary = {
  readonly active: number;
  readonly paused: number;
  /** The next payment of an active schedule that has not ended. */
  readonly next:
    | {
        readonly schedule: string;
        readonly period: string;
        /** ISO 8601 in UTC, as is the next one. */
        readonly releaseBy: string;
        readonly payAt: string;
        readonly state: AheadState;
        /** Why it is not prepared, or what may prevent it. */
        readonly code?: string;
      }
    | undefined;
  /** What cannot be read, in words, with what to do about it. Nothing of it is paid. */
  readonly damaged: readonly string[];
};

const none: ScheduleSummary = { active: 0, paused: 0, next: undefined, damaged: [] };

/** Does not create a store: without one there are no schedules. */
export async function summarizeSchedules(
  jobs: JobStorePlace,
  nowMs: number,
): Promise<ScheduleSummary> {
  return await withStore(jobs, none, async (store) => {
    const schedules = createScheduleStore(store, () => nowMs);
    const { schedules: all, damaged: names } = await schedules.list();
    const active = all.filter(({ state }) => state === 'active');
    // Also one whose time has passed: its job waits for its row.
    const periods = await schedules.listDamaged();
    const damaged = [
      ...names.map(describeDamagedSchedule),
      ...periods.map(describeDamagedOccurrence),
    ];
    const found: NonNullable<ScheduleSummary['next']>[] = [];
    for (const { definition } of active) {
      for (const plan of planNext(definition, 3, nowMs)) {
        const { schedule, period, releaseByMs, payAtMs } = plan;
        const known = await lookUp(schedules, plan);
        if (known !== 'damaged' && (known === undefined || !hasEnded(known))) {
          const { state = 'ahead', cause } = known ?? {};
          found.push({
            ...{ schedule, period, state },
            releaseBy: new Date(releaseByMs).toISOString(),
            payAt: new Date(payAtMs).toISOString(),
            ...(cause === undefined ? {} : { code: cause.code }),
          });
          break;
        }
      }
    }
    const [next] = found.toSorted((one, other) => (one.payAt < other.payAt ? -1 : 1));
    const paused = all.filter(({ state }) => state === 'paused').length;
    return { active: active.length, paused, next, damaged };
  });
}
