/**
 * Deliveries as jobs of the agent's job store: one for each event and target, claimed once whatever happens, leased by one agent at a
 * time, and on disk before the first attempt. Agents that share a store share the outbox.
 *
 * @module
 */
import { setImmediate } from 'node:timers/promises';
import { PoolError } from '@pool/core';
import type { FencedName, JobStore, JobSummary, StoredJob } from '@pool/idempotency';
import * as v from 'valibot';
import { deliverySchema, type StoredDelivery, type WebhookEvent } from './events.ts';
import type { WebhookTarget } from './targets.ts';

/** Scopes of the agent's own, which no list of jobs contains. */
const targetScope = ':webhook-targets';

function scopeOf(targetId: string): string {
  return `:webhooks/${targetId}`;
}

export type DeliveryState = 'pending' | 'delivered' | 'failed';

/** What became of an event at a target. */
export type Delivery = StoredDelivery & { readonly state: DeliveryState };

/** `waiting`: no agent has used the target yet. */
export type TargetState =
  | { readonly state: 'active' | 'waiting' }
  | { readonly state: 'disabled'; readonly reason: string; readonly sinceMs: number };

export type LeasedDelivery = FencedName & { readonly delivery: StoredDelivery };

export type Outbox = {
  /**
   * Stores an event for each target that takes its type and was known when it happened. Calling it again with the same event changes
   * nothing. The deliveries are on disk when it resolves.
   */
  append(event: WebhookEvent, targets: readonly WebhookTarget[]): Promise<void>;
  /** Makes a target known. Events from now on are for it. */
  register(targetId: string): Promise<void>;
  readTarget(targetId: string): Promise<TargetState>;
  /** @param reason - undefined: events are sent to it again */
  switchTarget(targetId: string, reason: string | undefined): Promise<void>;
  /** The oldest delivery that is due. @param ttlMs - until another agent may take it */
  lease(targetId: string, workerId: string, ttlMs: number): Promise<LeasedDelivery | undefined>;
  /** Stores what became of an attempt, and ends the lease. @param pauseMs - of a pending delivery */
  settle(
    leased: LeasedDelivery,
    change: { readonly state: DeliveryState; readonly delivery: StoredDelivery },
    pauseMs?: number,
  ): Promise<void>;
  release(leased: LeasedDelivery): Promise<void>;
  /**
   * Erases deliveries that nothing happened to since a time, also of targets that are not in the file any more.
   * @returns how many
   */
  erase(
    updatedBeforeMs: number,
  ): Promise<{ readonly delivered: number; readonly undelivered: number }>;
  /** Newest first. */
  list(targetId: string, limit: number): Promise<readonly Delivery[]>;
  count(targetId: string): Promise<{ readonly pending: number; readonly failed: number }>;
  /** Ids of the events whose deliveries failed. */
  listFailed(targetId: string): Promise<readonly string[]>;
  /** Sends an event again, under its id. @throws PoolError `not_found`; `invalid_request` while it is pending */
  replay(targetId: string, eventId: string): Promise<void>;
};

/** Deliveries that are erased in one transaction. */
const erasedAtOnce = 200;

/**
 * A pause between two attempts is a lease that nobody works under, so it outlives its process.
 * @param tellSinceMs - an event that is older than this is not stored: its delivery may be erased already. Default: 0
 */
export function createOutbox(
  store: JobStore,
  nowMs: () => number,
  tellSinceMs: () => number = () => 0,
): Outbox {
  const disabledSchema = v.strictObject({ reason: v.optional(v.string()) });

  async function findState(targetId: string): Promise<StoredJob | undefined> {
    return await store.get(targetScope, targetId);
  }

  async function change(
    name: { readonly scope: string; readonly key: string; readonly states: readonly string[] },
    decide: (job: StoredJob) => { readonly state: string; readonly payload: string },
  ): Promise<boolean> {
    const leased = await store.lease({
      ...name,
      workerId: 'command',
      ttlMs: 5_000,
      nowMs: nowMs(),
    });
    if (leased === undefined) {
      return false;
    }
    const fenced = { scope: name.scope, key: name.key, fence: leased.fence };
    await store.update({ ...fenced, ...decide(leased.job), nowMs: nowMs() });
    await store.release(fenced);
    return true;
  }

  const listAll = (targetId: string): Promise<readonly JobSummary[]> =>
    store.listChanged({ scope: scopeOf(targetId), sinceMs: 0 });

  return {
    async append(event, targets) {
      for (const { id, events } of targets) {
        const known = await findState(id);
        const atMs = Date.parse(event.timestamp);
        const isTold =
          known !== undefined &&
          known.createdAtMs <= atMs &&
          atMs >= tellSinceMs() &&
          (events === undefined || events.includes(event.type));
        if (isTold) {
          const delivery: StoredDelivery = { event, attempts: 0 };
          await store.claim({
            ...{ scope: scopeOf(id), key: event.id, fingerprint: event.id, state: 'pending' },
            ...{ payload: JSON.stringify(delivery), nowMs: nowMs() },
          });
        }
      }
    },

    async register(targetId) {
      await store.claim({
        ...{ scope: targetScope, key: targetId, fingerprint: targetId, state: 'active' },
        ...{ payload: '{}', nowMs: nowMs() },
      });
    },

    async readTarget(targetId) {
      const job = await findState(targetId);
      if (job?.state !== 'disabled') {
        return { state: job === undefined ? 'waiting' : 'active' };
      }
      const { reason = '' } = v.parse(disabledSchema, JSON.parse(job.payload));
      return { state: 'disabled', reason, sinceMs: job.updatedAtMs };
    },

    async switchTarget(targetId, reason) {
      const states = [reason === undefined ? 'disabled' : 'active'];
      await change({ scope: targetScope, key: targetId, states }, () => ({
        state: reason === undefined ? 'active' : 'disabled',
        payload: JSON.stringify({ reason }),
      }));
    },

    async lease(targetId, workerId, ttlMs) {
      const scope = scopeOf(targetId);
      const input = { workerId, states: ['pending'], scope, ttlMs, nowMs: nowMs() };
      const leased = await store.lease(input);
      return (
        leased && {
          ...{ scope, key: leased.job.key, fence: leased.fence },
          delivery: parseDelivery(leased.job),
        }
      );
    },

    async settle({ delivery: _, ...fenced }, { state, delivery }, pauseMs) {
      await store.update({ ...fenced, state, payload: JSON.stringify(delivery), nowMs: nowMs() });
      await (pauseMs === undefined
        ? store.release(fenced)
        : store.renew({ ...fenced, ttlMs: pauseMs, nowMs: nowMs() }));
    },

    async erase(updatedBeforeMs) {
      const erased = { delivered: 0, undelivered: 0 };
      for (const { key } of await store.listChanged({ scope: targetScope, sinceMs: 0 })) {
        for (const [name, states] of [
          ['delivered', ['delivered']],
          ['undelivered', ['pending', 'failed']],
        ] as const) {
          const input = { scope: scopeOf(key), states, updatedBeforeMs, limit: erasedAtOnce };
          let count: number;
          do {
            count = await store.deleteOwn({ ...input, nowMs: nowMs() });
            erased[name] += count;
            // Each step waits for the disk, on the thread that serves the routes.
            await setImmediate();
          } while (count === erasedAtOnce);
        }
      }
      return erased;
    },

    release: ({ delivery: _, ...fenced }) => store.release(fenced),

    async list(targetId, limit) {
      const found: Delivery[] = [];
      for (const { scope, key } of (await listAll(targetId))
        .toSorted(compareNewest)
        .slice(0, limit)) {
        const job = await store.get(scope, key);
        if (job !== undefined) {
          found.push({ ...parseDelivery(job), state: job.state as DeliveryState });
        }
      }
      return found;
    },

    async count(targetId) {
      const states = (await listAll(targetId)).map(({ state }) => state);
      const count = (wanted: string): number => states.filter((state) => state === wanted).length;
      return { pending: count('pending'), failed: count('failed') };
    },

    async listFailed(targetId) {
      const all = await listAll(targetId);
      return all.filter(({ state }) => state === 'failed').map(({ key }) => key);
    },

    async replay(targetId, eventId) {
      const scope = scopeOf(targetId);
      const job = await store.get(scope, eventId);
      if (job === undefined) {
        throw new PoolError(
          'not_found',
          `${targetId} has no delivery of the event ${eventId}, or it was erased after DISBURSE_WEBHOOKS_RETENTION_DAYS`,
        );
      }
      const states = ['delivered', 'failed'];
      const isDone = await change({ scope, key: eventId, states }, ({ payload }) => {
        const { event } = v.parse(deliverySchema, JSON.parse(payload));
        return { state: 'pending', payload: JSON.stringify({ event, attempts: 0 }) };
      });
      if (!isDone) {
        throw new PoolError(
          'invalid_request',
          `the event ${eventId} is still pending at ${targetId}: it is sent by itself; "webhooks deliveries" shows when`,
        );
      }
    },
  };
}

function parseDelivery({ payload }: StoredJob): StoredDelivery {
  return v.parse(deliverySchema, JSON.parse(payload));
}

function compareNewest(one: JobSummary, other: JobSummary): number {
  return other.createdAtMs - one.createdAtMs;
}
