/**
 * Schedules and their occurrences in the agent's job store, as jobs in scopes of its own. An occurrence is named by schedule and period,
 * whoever notices it and when; it is leased by one agent at a time, and what was decided about it stays.
 *
 * @module
 */
import { PoolError, quote } from '@pool/core';
import type { FencedName, JobStore, StoredJob } from '@pool/idempotency';
import * as v from 'valibot';
import { type Definition, type OccurrencePlan, parseDefinition, planSchema } from './definition.ts';

const definitionScope = ':schedules';
export const occurrenceScope = ':schedule-occurrences';

/** `removed`: nothing new is prepared, and the periods that were decided stay decided. */
export type ScheduleState = 'active' | 'paused' | 'removed';

export type Schedule = { readonly definition: Definition; readonly state: ScheduleState };

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
  list(): Promise<readonly Schedule[]>;
  find(name: string): Promise<Schedule | undefined>;
  /** @throws PoolError `not_found` */
  read(name: string): Promise<Schedule>;
  switch(name: string, state: ScheduleState): Promise<void>;
  /** Stores an occurrence that nobody has noticed yet. One that is stored is never planned anew. */
  notice(plan: OccurrencePlan): Promise<void>;
  /** Schedules and periods that were noticed. */
  listNoticed(): Promise<readonly { readonly id: string; readonly state: OccurrenceState }[]>;
  findOccurrence(schedule: string, period: string): Promise<Occurrence | undefined>;
  /** Of one schedule, by period. */
  listOf(schedule: string): Promise<readonly Occurrence[]>;
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
      const found = await Promise.all(names.map(({ key }) => store.get(definitionScope, key)));
      return found
        .flatMap((job) => (job === undefined ? [] : [toSchedule(job)]))
        .toSorted((one, other) => (one.definition.name < other.definition.name ? -1 : 1));
    },

    find,
    read: readSchedule,

    async switch(name, state) {
      const { state: current } = await readSchedule(name);
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

    async findOccurrence(schedule, period) {
      const job = await store.get(occurrenceScope, formatId(schedule, period));
      return job && toOccurrence(job);
    },

    async listOf(schedule) {
      const all = await store.listChanged({ scope: occurrenceScope, sinceMs: 0 });
      const own = all.filter(({ key }) => key.startsWith(formatId(schedule, '')));
      const found = await Promise.all(own.map(({ key }) => store.get(occurrenceScope, key)));
      return found
        .flatMap((job) => (job === undefined ? [] : [toOccurrence(job)]))
        .toSorted((one, other) => one.plan.payAtMs - other.plan.payAtMs);
    },

    async lease(id, workerId, ttlMs) {
      const name = { scope: occurrenceScope, key: id };
      const leased = await store.lease({
        ...{ ...name, states: open, workerId, ttlMs, nowMs: nowMs() },
      });
      return leased && { ...name, fence: leased.fence, occurrence: toOccurrence(leased.job) };
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

function toSchedule({ payload, state }: StoredJob): Schedule {
  return read(() => ({ definition: parseDefinition(payload), state: state as ScheduleState }));
}

/** @throws PoolError `store_damaged` */
export function toOccurrence({ payload, state }: Pick<StoredJob, 'payload' | 'state'>): Occurrence {
  return read(() => ({
    ...v.parse(recordSchema, JSON.parse(payload)),
    state: v.parse(v.picklist(occurrenceStates), state),
  }));
}

function read<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new PoolError(
      'store_damaged',
      'the job store is damaged: a schedule cannot be read. Restore it from a backup; nothing of it is paid until then',
      { cause },
    );
  }
}
