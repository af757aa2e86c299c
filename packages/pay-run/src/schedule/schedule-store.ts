/**
 * Schedules and their occurrences in the agent's job store, as jobs in scopes of its own. An occurrence is named by schedule and period,
 * whoever notices it and when; it is leased by one agent at a time, and what was decided about it stays.
 *
 * @module
 */
import { errorCodeOf, PoolError, quote } from '@pool/core';
import type { FencedName, JobName, JobStore, StoredJob } from '@pool/idempotency';
import * as v from 'valibot';
import { type Definition, type OccurrencePlan, parseDefinition, planSchema } from './definition.ts';

export const definitionScope = ':schedules';
export const occurrenceScope = ':schedule-occurrences';

/** `removed`: nothing new is prepared, and the periods that were decided stay decided. */
const scheduleStates = ['active', 'paused', 'removed'] as const;
export type ScheduleState = (typeof scheduleStates)[number];

export type Schedule = { readonly definition: Definition; readonly state: ScheduleState };

/** What can be read. What is damaged is named, and nothing of it is prepared or paid. */
export type ScheduleList = {
  readonly schedules: readonly Schedule[];
  /** Names. One that was removed is not among them. */
  readonly damaged: readonly string[];
};

export type OccurrenceList = {
  readonly occurrences: readonly Occurrence[];
  /** Periods. */
  readonly damaged: readonly string[];
};

export const occurrenceStates = [
  /** It is time to prepare it. */
  'due',
  /** Its roster is decided and given to the agent, and its batches wait for their release and their time. */
  'prepared',
  'paid',
  /** Some of its parts were paid. */
  'partly-paid',
  /** Nothing was paid: it was late, not released, denied, cancelled, or nobody wanted it. */
  'skipped',
  /** Nothing was paid: its jobs failed. */
  'unpaid',
] as const;
export type OccurrenceState = (typeof occurrenceStates)[number];

/** Why it is not prepared, what may prevent it, or how it ended. The message is confidential: it may name a line of the roster. */
const causeSchema = v.strictObject({ code: v.string(), message: v.string(), atMs: v.number() });

const recordSchema = v.strictObject({
  plan: planSchema,
  /** What was given to the agent. It is decided once. */
  prepared: v.optional(
    v.strictObject({
      /** Of the roster, as the ledger of pay runs has it. */
      digest: v.string(),
      /** Of the parts, in their order. */
      keys: v.array(v.string()),
      atMs: v.number(),
    }),
  ),
  /** It is decided that it is not paid, and why. What the agent has of it is being cancelled. */
  withdrawal: v.optional(causeSchema),
  cause: v.optional(causeSchema),
});
export type OccurrenceRecord = v.InferOutput<typeof recordSchema>;
export type Cause = v.InferOutput<typeof causeSchema>;

export type Occurrence = OccurrenceRecord & { readonly state: OccurrenceState };

export type LeasedOccurrence = FencedName & { readonly occurrence: Occurrence };

export type ScheduleStore = {
  /** @throws PoolError `invalid_request` if the name is used */
  add(definition: Definition): Promise<void>;
  list(): Promise<ScheduleList>;
  /** @throws PoolError `store_damaged`, as the next ones */
  find(name: string): Promise<Schedule | undefined>;
  /** @throws PoolError `not_found`, `store_damaged` */
  read(name: string): Promise<Schedule>;
  /** A damaged one can be removed. @throws PoolError `not_found`, `store_damaged`, `invalid_request` */
  switch(name: string, state: ScheduleState): Promise<void>;
  /** Stores an occurrence that nobody has noticed yet. One that is stored is never planned anew. */
  notice(plan: OccurrencePlan): Promise<void>;
  /** Schedules and periods that were noticed. */
  listNoticed(): Promise<readonly { readonly id: string; readonly state: OccurrenceState }[]>;
  /** Ids of those that have not ended and cannot be read. */
  listDamaged(): Promise<readonly string[]>;
  findOccurrence(schedule: string, period: string): Promise<Occurrence | undefined>;
  /** Of one schedule, by period. */
  listOf(schedule: string): Promise<OccurrenceList>;
  /** An occurrence that has not ended. Undefined: another one works on it, or it has ended. */
  lease(id: string, workerId: string, ttlMs: number): Promise<LeasedOccurrence | undefined>;
  /** Stores a decision. @throws StoreError `stale_fence` if another one decides by now */
  decide(leased: LeasedOccurrence, next: Occurrence): Promise<LeasedOccurrence>;
  release(leased: LeasedOccurrence): Promise<void>;
};

/** The name of an occurrence in the store. Neither part has a blank. */
export function formatId(schedule: string, period: string): string {
  return `${schedule} ${period}`;
}

const open: readonly OccurrenceState[] = ['due', 'prepared'];

export function hasEnded({ state }: Pick<Occurrence, 'state'>): boolean {
  return !open.includes(state);
}

/** Why it is not prepared or not paid. */
export function findReason({ withdrawal, cause }: Occurrence): Cause | undefined {
  return withdrawal ?? cause;
}

export function createScheduleStore(store: JobStore, nowMs: () => number): ScheduleStore {
  async function find(name: string): Promise<Schedule | undefined> {
    const job = await store.get(definitionScope, name);
    return job && toSchedule(job);
  }

  async function readSchedule(name: string): Promise<Schedule> {
    const schedule = await find(name);
    if (schedule === undefined) {
      throw new PoolError(
        'not_found',
        `there is no schedule ${quote(name)}; "disburse-agent schedule list" prints them`,
      );
    }
    return schedule;
  }

  /** @returns false if it is leased, or in another state */
  async function change(
    key: string,
    states: readonly ScheduleState[],
    next: { readonly state: ScheduleState; readonly payload?: string },
  ): Promise<boolean> {
    const name = { scope: definitionScope, key };
    const input = { ...name, states, workerId: 'command', ttlMs: 5_000, nowMs: nowMs() };
    const leased = await store.lease(input);
    if (leased === undefined) {
      return false;
    }
    const fenced = { ...name, fence: leased.fence };
    await store.update({ payload: leased.job.payload, ...fenced, ...next, nowMs: nowMs() });
    await store.release(fenced);
    return true;
  }

  return {
    async add(definition) {
      const { name: key } = definition;
      const payload = JSON.stringify(definition);
      const { outcome } = await store.claim({
        ...{ scope: definitionScope, key, fingerprint: key, state: 'active' },
        ...{ payload, nowMs: nowMs() },
      });
      const isFree =
        outcome === 'created' || (await change(key, ['removed'], { state: 'active', payload }));
      if (!isFree) {
        throw new PoolError(
          'invalid_request',
          `there is a schedule ${quote(key)}: nothing was added; choose another name, or remove it first`,
        );
      }
    },

    async list() {
      const names = await store.listChanged({ scope: definitionScope, sinceMs: 0 });
      const { read: schedules, damaged } = sortOut(
        await readAll(store, names),
        toSchedule,
        ({ state }) => state !== 'removed',
      );
      return {
        schedules: schedules.toSorted((one, other) =>
          one.definition.name < other.definition.name ? -1 : 1,
        ),
        damaged: damaged.toSorted(),
      };
    },

    find,
    read: readSchedule,

    async switch(name, state) {
      const known = await store.get(definitionScope, name);
      const current =
        state === 'removed' && known !== undefined
          ? (known.state as ScheduleState)
          : (await readSchedule(name)).state;
      if (current !== state && !(await change(name, [current], { state }))) {
        throw new PoolError(
          'invalid_request',
          `another command changes the schedule ${quote(name)} at this moment; run the same command again`,
        );
      }
    },

    async notice(plan) {
      const record: OccurrenceRecord = { plan };
      await store.claim({
        scope: occurrenceScope,
        key: formatId(plan.schedule, plan.period),
        ...{ fingerprint: plan.label, state: 'due' },
        ...{ payload: JSON.stringify(record), nowMs: nowMs() },
      });
    },

    async listNoticed() {
      const all = await store.listChanged({ scope: occurrenceScope, sinceMs: 0 });
      return all.map(({ key, state }) => ({ id: key, state: state as OccurrenceState }));
    },

    async listDamaged() {
      const all = await store.listChanged({ scope: occurrenceScope, sinceMs: 0 });
      const isOver = (state: string): boolean =>
        occurrenceStates.some((one) => one === state && hasEnded({ state: one }));
      const undecided = all.filter(({ state }) => !isOver(state));
      return sortOut(await readAll(store, undecided), toOccurrence).damaged.toSorted();
    },

    async findOccurrence(schedule, period) {
      const job = await store.get(occurrenceScope, formatId(schedule, period));
      return job && toOccurrence(job);
    },

    async listOf(schedule) {
      const all = await store.listChanged({ scope: occurrenceScope, sinceMs: 0 });
      const prefix = formatId(schedule, '');
      const own = all.filter(({ key }) => key.startsWith(prefix));
      const { read: occurrences, damaged } = sortOut(await readAll(store, own), toOccurrence);
      return {
        occurrences: occurrences.toSorted((one, other) => one.plan.payAtMs - other.plan.payAtMs),
        damaged: damaged.map((id) => id.slice(prefix.length)).toSorted(),
      };
    },

    async lease(id, workerId, ttlMs) {
      const name = { scope: occurrenceScope, key: id };
      const leased = await store.lease({
        ...{ ...name, states: open, workerId, ttlMs, nowMs: nowMs() },
      });
      if (leased === undefined) {
        return undefined;
      }
      const fenced = { ...name, fence: leased.fence };
      try {
        return { ...fenced, occurrence: toOccurrence(leased.job) };
      } catch (error) {
        await store.release(fenced);
        throw error;
      }
    },

    async decide({ occurrence: _, ...fenced }, next) {
      const { state, ...record } = next;
      const payload = JSON.stringify(record);
      await store.update({ ...fenced, state, payload, nowMs: nowMs() });
      return { ...fenced, occurrence: next };
    },

    release: ({ occurrence: _, ...fenced }) => store.release(fenced),
  };
}

async function readAll(
  store: Pick<JobStore, 'get'>,
  names: readonly JobName[],
): Promise<readonly StoredJob[]> {
  const found = await Promise.all(names.map(({ scope, key }) => store.get(scope, key)));
  return found.flatMap((job) => (job === undefined ? [] : [job]));
}

/** One row that is damaged must not hide the others. @param counts - damaged rows that are named; default: all */
function sortOut<T>(
  jobs: readonly StoredJob[],
  parse: (job: StoredJob) => T,
  counts: (job: StoredJob) => boolean = () => true,
): { readonly read: readonly T[]; readonly damaged: readonly string[] } {
  const read: T[] = [];
  const damaged: string[] = [];
  for (const job of jobs) {
    try {
      read.push(parse(job));
    } catch (error) {
      if (errorCodeOf(error) !== 'store_damaged') {
        throw error;
      }
      damaged.push(...(counts(job) ? [job.key] : []));
    }
  }
  return { read, damaged };
}

function toSchedule({ key, payload, state }: StoredJob): Schedule {
  return read(describeDamagedSchedule(key), () => {
    const definition = parseDefinition(payload);
    if (definition.name !== key) {
      throw new Error('the row is of another schedule');
    }
    return { definition, state: v.parse(v.picklist(scheduleStates), state) };
  });
}

/** @throws PoolError `store_damaged` */
export function toOccurrence({
  key,
  payload,
  state,
}: Pick<StoredJob, 'key' | 'payload' | 'state'>): Occurrence {
  return read(describeDamagedOccurrence(key), () => {
    const record = v.parse(recordSchema, JSON.parse(payload));
    if (formatId(record.plan.schedule, record.plan.period) !== key) {
      throw new Error('the row is of another occurrence');
    }
    return { ...record, state: v.parse(v.picklist(occurrenceStates), state) };
  });
}

export function describeDamagedSchedule(name: string): string {
  return `the schedule ${quote(name)} cannot be read: the job store is damaged. Nothing of it is prepared or paid. Restore the store from a backup, or run "disburse-agent schedule remove ${name}" and add the schedule again`;
}

/** @param id - schedule and period */
export function describeDamagedOccurrence(id: string): string {
  return `the payment ${quote(id)} of a schedule cannot be read: the job store is damaged. Nothing more of it is signed. Restore the store from a backup, or cancel its pay run and pay it by hand`;
}

function read<T>(message: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new PoolError('store_damaged', message, { cause });
  }
}
