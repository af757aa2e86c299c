/**
 * What a schedule pays next, and what became of it: what the commands print and the console shows. Changes nothing.
 *
 * @module
 */
import { errorCodeOf } from '@pool/core';
import type { JobStorePlace } from '@pool/idempotency';
import { withStore } from '../ledger/stored-keys.ts';
import { formatRule, listDays } from './calendar.ts';
import { type Definition, findStartMs, type OccurrencePlan, planOccurrence } from './definition.ts';
import {
  createScheduleStore,
  type Occurrence,
  type OccurrenceState,
  type Schedule,
  type ScheduleStore,
} from './schedule-store.ts';

/** `ahead`: nothing of it is prepared. `damaged`: its row cannot be read, and nothing of it is paid. */
export type AheadState = OccurrenceState | 'ahead' | 'damaged';

export type ScheduleView = Schedule & {
  /** In words. */
  readonly rule: string;
  readonly next: readonly { readonly plan: OccurrencePlan; readonly state: AheadState }[];
  /** Those that were noticed, by the time of their payment. */
  readonly occurrences: readonly Occurrence[];
  /** Periods whose rows cannot be read. */
  readonly damaged: readonly string[];
};

/** Every schedule that was not removed. */
export type ScheduleViews = {
  readonly views: readonly ScheduleView[];
  /** Names of those that cannot be read. */
  readonly damaged: readonly string[];
};

type Deps = { readonly schedules: ScheduleStore; readonly nowMs: () => number };

/** Does not create a store: without one there are none. @param count - of the next payments */
export async function viewSchedules(
  jobs: JobStorePlace,
  count: number,
  nowMs: () => number,
): Promise<ScheduleViews> {
  return await withStore(jobs, { views: [], damaged: [] }, async (store) => {
    const schedules = createScheduleStore(store, nowMs);
    const { schedules: all, damaged } = await schedules.list();
    const kept = all.filter(({ state }) => state !== 'removed');
    const deps = { schedules, nowMs };
    return {
      views: await Promise.all(kept.map((one) => viewSchedule(one, count, deps))),
      damaged,
    };
  });
}

export async function viewSchedule(
  schedule: Schedule,
  count: number,
  deps: Deps,
): Promise<ScheduleView> {
  const { definition } = schedule;
  return {
    ...schedule,
    rule: describeWhen(definition),
    next: await viewNext(definition, count, deps),
    ...(await deps.schedules.listOf(definition.name)),
  };
}

export async function viewNext(
  definition: Definition,
  count: number,
  { schedules, nowMs }: Deps,
): Promise<ScheduleView['next']> {
  return await Promise.all(
    planNext(definition, count, nowMs()).map(async (plan) => {
      const known = await lookUp(schedules, plan);
      return { plan, state: known === 'damaged' ? known : (known?.state ?? 'ahead') };
    }),
  );
}

export async function lookUp(
  schedules: Pick<ScheduleStore, 'findOccurrence'>,
  { schedule, period }: Pick<OccurrencePlan, 'schedule' | 'period'>,
): Promise<Occurrence | 'damaged' | undefined> {
  try {
    return await schedules.findOccurrence(schedule, period);
  } catch (error) {
    if (errorCodeOf(error) === 'store_damaged') {
      return 'damaged';
    }
    throw error;
  }
}

/** Payments after now. */
export function planNext(
  definition: Definition,
  count: number,
  nowMs: number,
): readonly OccurrencePlan[] {
  const found: OccurrencePlan[] = [];
  for (const day of listDays(definition, Math.max(nowMs, findStartMs(definition)))) {
    if (found.length === count) {
      break;
    }
    found.push(planOccurrence(definition, day));
  }
  return found;
}

function describeWhen({ when }: Definition): string {
  if (when.kind === 'once') {
    return when.date;
  }
  const { rule, weekend, holidays } = when;
  const moves = [
    ...(weekend === 'keep' ? [] : [`weekend: ${weekend}`]),
    ...(holidays === undefined
      ? []
      : [`holidays: ${holidays.move}, known until ${holidays.dates.at(-1)}`]),
  ];
  return `${formatRule(rule)}${moves.length === 0 ? '' : ` (${moves.join(', ')})`}`;
}
