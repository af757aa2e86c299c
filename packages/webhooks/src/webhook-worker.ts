/**
 * The worker of the running agent: finds what happened to jobs and schedules, stores the events, and delivers them.
 *
 * @module
 */
import { errorCodeOf } from '@pool/core';
import type { Fetch } from '@pool/http-client';
import type { JobStore, StoredJob } from '@pool/idempotency';
import type { EngineClock } from '@pool/idempotency/engine';
import type { WebhookEvent } from './events.ts';
import { createOutbox, type LeasedDelivery } from './outbox.ts';
import { computePause, sendEvent } from './send-event.ts';
import type { WebhookTarget } from './targets.ts';

/** The part of a log that the worker writes. Keys and addresses of receivers are in none of its lines. */
export type WebhookLog = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
};

export type WebhookWorkerOptions = {
  readonly store: JobStore;
  /** Of the jobs that are told. Undefined: not known yet. */
  readonly findScope: () => string | undefined;
  /** Of what is told beside the jobs. Default: nothing. */
  readonly furtherScopes?: readonly string[];
  /** The events of a job so far. @param scope - of {@link WebhookWorkerOptions.findScope} */
  readonly listEvents: (job: StoredJob, scope: string) => Promise<readonly WebhookEvent[]>;
  /** Read again at each pass, so that a changed file counts without a restart. @throws for a file that is wrong now */
  readonly readTargets: () => readonly WebhookTarget[];
  readonly fetch: Fetch;
  readonly clock: EngineClock;
  /** 0 … 1. */
  readonly random: () => number;
  /** Names this process in the store. */
  readonly workerId: string;
  /** Pause between two passes. */
  readonly idleMs: number;
  /** How long deliveries are kept after their last change. Longer than the attempts at one take. */
  readonly keepMs: number;
  readonly log: WebhookLog;
};

export type WebhookWorker = {
  /** Looks for events at once. */
  wake(): void;
  /** Stores an event that does not follow from a job. */
  append(event: WebhookEvent): Promise<void>;
  /** Ends attempts under way, which another agent, or the next start, makes again. */
  stop(): Promise<void>;
};

/** Longer than an attempt. */
const leaseMs = 60_000;

/** Pause between two erasures. */
const eraseEveryMs = 3_600_000;

const cursorName = { scope: ':webhooks', key: 'cursor' };
/** Machines that share a store may have clocks that differ by less. Events are claimed by id, so reading again does no harm. */
const overlapMs = 3_600_000;

export function startWebhooks(options: WebhookWorkerOptions): WebhookWorker {
  const { store, clock, log, workerId } = options;
  // The overlap of clocks comes on top, so that no event is stored again when its delivery is erased.
  const tellSinceMs = (): number => clock.nowMs() - options.keepMs + overlapMs;
  const outbox = createOutbox(store, clock.nowMs, tellSinceMs);
  const stopping = new AbortController();
  const { signal } = stopping;
  /** Targets whose deliveries are being made. */
  const draining = new Map<string, Promise<void>>();
  /** The last change of each job whose events are stored. */
  let told: ReadonlyMap<string, string> = new Map();
  let targets: readonly WebhookTarget[] = [];
  let lastProblem: string | undefined;
  /** On the clock that does not step. */
  let erasedAtMs = Number.NEGATIVE_INFINITY;
  let wakeUp = (): void => undefined;
  let isWoken = false;

  async function loop(): Promise<void> {
    while (!signal.aborted) {
      isWoken = false;
      await attempt('targets', async () => {
        targets = options.readTargets();
        for (const { id } of targets) {
          await outbox.register(id);
        }
      });
      await attempt('jobs', collect);
      await attempt('erasure', eraseOld);
      for (const target of targets) {
        if (!draining.has(target.id)) {
          const work = attempt(target.id, () => drain(target)).finally(() =>
            draining.delete(target.id),
          );
          draining.set(target.id, work);
        }
      }
      await rest();
    }
    await Promise.all(draining.values());
  }

  async function eraseOld(): Promise<void> {
    if (clock.steadyMs() - erasedAtMs < eraseEveryMs) {
      return;
    }
    const { delivered, undelivered } = await outbox.erase(clock.nowMs() - options.keepMs);
    erasedAtMs = clock.steadyMs();
    if (delivered > 0) {
      log.info({ delivered }, 'webhooks: old deliveries erased');
    }
    if (undelivered > 0) {
      log.warn({ undelivered }, 'webhooks: old events that their target never took are erased');
    }
  }

  async function rest(): Promise<void> {
    const woken = new AbortController();
    wakeUp = () => woken.abort();
    if (!isWoken) {
      await clock
        .sleep(options.idleMs, AbortSignal.any([woken.signal, signal]))
        .catch(() => undefined);
    }
  }

  /** A failure is logged once, with its code, and tried again at the next pass. */
  async function attempt(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      lastProblem = lastProblem?.startsWith(`${what} `) === true ? undefined : lastProblem;
    } catch (error) {
      const code = errorCodeOf(error) ?? 'internal_error';
      if (lastProblem !== `${what} ${code}` && !signal.aborted) {
        lastProblem = `${what} ${code}`;
        log.warn({ code, what }, 'webhooks: a pass failed; it is tried again');
      }
    }
  }

  /** Reads the jobs that changed since the last pass of any agent. */
  async function collect(): Promise<void> {
    const scope = options.findScope();
    if (scope === undefined || targets.length === 0) {
      return;
    }
    const nowMs = clock.nowMs();
    await store.claim({
      ...{ ...cursorName, fingerprint: '', state: 'open' },
      ...{ payload: String(nowMs), nowMs },
    });
    const cursor = await store.lease({
      ...{ ...cursorName, states: ['open'], workerId, ttlMs: leaseMs, nowMs },
    });
    if (cursor === undefined) {
      // Another agent reads.
      return;
    }
    const fenced = { ...cursorName, fence: cursor.fence };
    try {
      // A clock that was set back must not hide what happens meanwhile.
      const sinceMs = Math.min(Number(cursor.job.payload), nowMs) - overlapMs;
      const toldNow = new Map<string, string>();
      for (const own of [scope, ...(options.furtherScopes ?? [])]) {
        for (const { key, state, updatedAtMs } of await store.listChanged({
          ...{ scope: own, sinceMs },
        })) {
          const change = `${state} ${updatedAtMs}`;
          const name = JSON.stringify([own, key]);
          const job = told.get(name) === change ? undefined : await store.get(own, key);
          if (job !== undefined) {
            for (const event of await listReadable(job, scope)) {
              await outbox.append(event, targets);
            }
          }
          toldNow.set(name, change);
        }
      }
      told = toldNow;
      await store.update({ ...fenced, state: 'open', payload: String(nowMs), nowMs });
    } finally {
      await store.release(fenced).catch(() => undefined);
    }
  }

  /** One job that cannot be read must not silence the others. */
  async function listReadable(job: StoredJob, scope: string): Promise<readonly WebhookEvent[]> {
    try {
      return await options.listEvents(job, scope);
    } catch (error) {
      const code = errorCodeOf(error);
      if (code !== 'job_unreadable' && code !== 'store_damaged') {
        throw error;
      }
      log.warn({ code }, 'webhooks: a stored job cannot be read; no event of it');
      return [];
    }
  }

  async function drain(target: WebhookTarget): Promise<void> {
    while (!signal.aborted && (await outbox.readTarget(target.id)).state === 'active') {
      const leased = await outbox.lease(target.id, workerId, leaseMs);
      if (leased === undefined) {
        return;
      }
      await deliver(target, leased);
    }
  }

  async function deliver(target: WebhookTarget, leased: LeasedDelivery): Promise<void> {
    const { event, attempts: before } = leased.delivery;
    const atMs = clock.nowMs();
    const outcome = await sendEvent(target, event, {
      ...{ fetch: options.fetch, nowMs: atMs, signal },
    }).catch(async (error: unknown) => {
      await outbox.release(leased);
      throw error;
    });
    const attempts = before + 1;
    const { kind, ...facts } = outcome;
    const { status, reason } = { reason: undefined, ...facts };
    const last = {
      atMs,
      ...(status === undefined ? {} : { status }),
      ...(reason === undefined ? {} : { reason }),
    };
    const fields = { target: target.id, event: event.id, type: event.type, attempts };
    if (kind === 'delivered') {
      await outbox.settle(leased, { state: 'delivered', delivery: { event, attempts, last } });
      log.info({ ...fields, status }, 'webhook delivered');
      return;
    }
    const retryAfterMs = 'retryAfterMs' in outcome ? outcome.retryAfterMs : 0;
    const pauseMs =
      kind === 'gone' ? undefined : computePause(attempts, options.random(), retryAfterMs);
    log.warn({ ...fields, status, reason }, 'webhook not delivered');
    if (pauseMs !== undefined) {
      const nextAtMs = clock.nowMs() + pauseMs;
      const delivery = { event, attempts, last, nextAtMs };
      await outbox.settle(leased, { state: 'pending', delivery }, pauseMs);
      return;
    }
    await outbox.settle(leased, { state: 'failed', delivery: { event, attempts, last } });
    await outbox.switchTarget(
      target.id,
      `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'} at ${event.id} failed; the last: ${reason ?? 'no answer'}`,
    );
    log.warn(fields, 'webhook target disabled; "disburse-agent webhooks list" says why');
  }

  const running = loop();
  return {
    wake() {
      isWoken = true;
      wakeUp();
    },
    append: (event) => outbox.append(event, targets),
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
