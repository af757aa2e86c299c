/**
 * `disburse-agent webhooks`: what an operator reads and does about targets and deliveries. Works beside the running agent, through the
 * same file and the same job store.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { JobStore } from '@pool/idempotency';
import { computeEventId, type WebhookEvent } from './events.ts';
import { createOutbox, type Delivery, type Outbox, type TargetState } from './outbox.ts';
import { createPinnedFetch } from './pinned-fetch.ts';
import { sendEvent } from './send-event.ts';
import {
  findTarget,
  readTargets,
  rotateSecret,
  type TargetPlace,
  type WebhookTarget,
} from './targets.ts';

export type WebhookCommandDeps = {
  readonly place: TargetPlace;
  readonly store: JobStore;
  readonly nowMs: () => number;
  /** Prints the outcome: text, or the document of `--json`. */
  readonly out: (outcome: string | object) => void;
};

type View = {
  readonly id: string;
  /** Without path and query, which may hold a token. */
  readonly origin: string;
  readonly events: readonly string[] | 'all';
  readonly isRotating: boolean;
  readonly target: TargetState;
  readonly pending: number;
  readonly failed: number;
};

/** Every target, its state and what waits for it. */
export async function listWebhooks(
  { place, store, nowMs, out }: WebhookCommandDeps,
  { json = false }: { readonly json?: boolean },
): Promise<void> {
  const outbox = createOutbox(store, nowMs);
  const views: View[] = [];
  for (const target of readTargets(place)) {
    views.push(await inspect(target, outbox));
  }
  if (json) {
    out({ targets: views });
  } else {
    out(views.length === 0 ? 'no target is in the file' : views.map(describe).join('\n'));
  }
}

async function inspect(target: WebhookTarget, outbox: Outbox): Promise<View> {
  const { pending, failed } = await outbox.count(target.id);
  return {
    id: target.id,
    origin: new URL(target.url).origin,
    events: target.events ?? 'all',
    isRotating: target.secrets.length > 1,
    target: await outbox.readTarget(target.id),
    ...{ pending, failed },
  };
}

function describe({ id, origin, events, isRotating, target, pending, failed }: View): string {
  const state =
    target.state === 'disabled'
      ? `disabled since ${new Date(target.sinceMs).toISOString()}: ${target.reason}. "disburse-agent webhooks test ${id}" switches it on when it answers`
      : target.state === 'waiting'
        ? 'no agent has used it yet'
        : 'active';
  return [
    `${id}  ${origin}  ${events === 'all' ? 'all events' : events.join(', ')}`,
    `  ${state}`,
    `  ${pending} pending, ${failed} failed`,
    ...(isRotating ? ['  two secrets: the rotation is not finished'] : []),
  ].join('\n');
}

/** The newest deliveries of a target. @throws PoolError `not_found` */
export async function listDeliveries(
  id: string,
  { place, store, nowMs, out }: WebhookCommandDeps,
  { limit = 20, json = false }: { readonly limit?: number; readonly json?: boolean },
): Promise<void> {
  findTarget(readTargets(place), id);
  const deliveries = await createOutbox(store, nowMs).list(id, limit);
  if (json) {
    out({ deliveries });
  } else {
    out(deliveries.length === 0 ? 'no delivery yet' : deliveries.map(describeDelivery).join('\n'));
  }
}

function describeDelivery({ event, state, attempts, last, nextAtMs }: Delivery): string {
  const answer = last?.status === undefined ? last?.reason : `HTTP ${last.status}`;
  const next = nextAtMs === undefined ? '' : `, next ${new Date(nextAtMs).toISOString()}`;
  return [
    event.timestamp,
    event.id,
    event.type,
    `${state} (${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}${answer === undefined ? '' : `, last: ${answer}`}${next})`,
  ].join('  ');
}

/** Sends a test event now. An answer switches a disabled target on again. @throws PoolError `not_found`, `webhook_unreachable` */
export async function testWebhook(
  id: string,
  { place, store, nowMs, out }: WebhookCommandDeps,
): Promise<void> {
  const target = findTarget(readTargets(place), id);
  const event: WebhookEvent = {
    id: computeEventId('test', id, String(nowMs())),
    type: 'webhook.test',
    timestamp: new Date(nowMs()).toISOString(),
    data: {},
  };
  const outcome = await sendEvent(target, event, {
    fetch: createPinnedFetch(place),
    nowMs: nowMs(),
  });
  if (outcome.kind !== 'delivered') {
    throw new PoolError(
      'webhook_unreachable',
      `${id} did not take the test event: ${outcome.reason}`,
    );
  }
  const outbox = createOutbox(store, nowMs);
  const isDisabled = (await outbox.readTarget(id)).state === 'disabled';
  await outbox.switchTarget(id, undefined);
  out(`${id} took ${event.id}: HTTP ${outcome.status}${isDisabled ? '; it is active again' : ''}`);
}

/**
 * Sends events again, each under its id.
 * @param eventId - undefined: every delivery that failed
 * @throws PoolError `not_found`, `invalid_request`
 */
export async function replayWebhooks(
  id: string,
  eventId: string | undefined,
  { place, store, nowMs, out }: WebhookCommandDeps,
): Promise<void> {
  findTarget(readTargets(place), id);
  const outbox = createOutbox(store, nowMs);
  const eventIds = eventId === undefined ? await outbox.listFailed(id) : [eventId];
  for (const one of eventIds) {
    await outbox.replay(id, one);
  }
  const isDisabled = (await outbox.readTarget(id)).state === 'disabled';
  out(
    `${eventIds.length} ${eventIds.length === 1 ? 'event is' : 'events are'} sent again by the running agent${isDisabled ? `, once "disburse-agent webhooks test ${id}" has switched the target on` : ''}`,
  );
}

/** @throws PoolError `not_found`, `invalid_request`, `invalid_configuration` */
export function rotateWebhook(
  id: string,
  { place, out }: Pick<WebhookCommandDeps, 'place' | 'out'>,
  { finish = false }: { readonly finish?: boolean },
): void {
  const secret = rotateSecret(place, id, finish);
  out(
    secret === undefined
      ? `${id} has one secret again`
      : `${secret}\nGive this secret to the receiver, then run "disburse-agent webhooks rotate ${id} --finish". Until then each event is signed with both.`,
  );
}
