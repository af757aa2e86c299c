/**
 * Webhook events: signed over their raw bytes, delivered once or more, in order or not. A failed delivery is not
 * repeated by itself.
 *
 * @module
 */
import { createHmac } from 'node:crypto';
import type { Clock } from './clock.ts';
import type { Webhook } from './config.ts';
import type { Settings } from './settings.ts';
import { createId, type State } from './store.ts';

export type WebhookKind =
  | 'wallet.signature.requested'
  | 'wallet.signature.signed'
  | 'wallet.signature.failed'
  | 'wallet.signature.rejected'
  | 'policy.triggered'
  | 'policy.approval.pending'
  | 'policy.approval.resolved';

export type Delivery = {
  readonly webhookId: string;
  readonly eventId: string;
  readonly kind: WebhookKind;
  /** HTTP status as text, or `error`. */
  readonly status: string;
};

type Event = {
  readonly id: string;
  readonly kind: WebhookKind;
  readonly date: string;
  readonly data: unknown;
};

export type Webhooks = {
  emit(kind: WebhookKind, data: unknown): void;
  /** Delivers what is held. @returns what was delivered */
  flush(): Promise<Delivery[]>;
  /** Resolves when no delivery is under way. */
  settled(): Promise<void>;
  deliveries(): readonly Delivery[];
  reset(): void;
};

/** A receiver must answer within this time. */
const timeoutMs = 5_000;

export function createWebhooks(options: {
  readonly state: State;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly headerPrefix: string;
}): Webhooks {
  const { state, settings, clock, headerPrefix } = options;
  const done: Delivery[] = [];
  let held: Event[] = [];
  let last: Promise<unknown> = Promise.resolve();

  async function deliver(webhook: Webhook, event: Event): Promise<Delivery> {
    const body = JSON.stringify({
      ...event,
      deliveryAttempt: 1,
      timestampSent: Math.floor(clock.now() / 1_000),
    });
    const mac = createHmac('sha256', webhook.secret).update(body).digest('hex');
    let status = 'error';
    try {
      const response = await fetch(webhook.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          [`${headerPrefix}webhook-signature`]: `sha256=${mac}`,
        },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.arrayBuffer();
      status = String(response.status);
    } catch {
      // The receiver is down: its poll finds out anyway.
    }
    const delivery = { webhookId: webhook.id, eventId: event.id, kind: event.kind, status };
    done.push(delivery);
    return delivery;
  }

  async function deliverAll(events: readonly Event[]): Promise<Delivery[]> {
    const ordered = settings.webhookOrder === 'reversed' ? events.toReversed() : events;
    const deliveries: Delivery[] = [];
    for (const event of ordered) {
      for (const webhook of state.webhooks) {
        if (webhook.events.includes('*') || webhook.events.includes(event.kind)) {
          for (let copy = 0; copy < settings.webhookCopies; copy += 1) {
            deliveries.push(await deliver(webhook, event));
          }
        }
      }
    }
    return deliveries;
  }

  function enqueue(events: readonly Event[]): Promise<Delivery[]> {
    const next = last.then(() => deliverAll(events));
    last = next;
    return next;
  }

  return {
    emit(kind, data) {
      if (state.webhooks.length === 0) {
        return;
      }
      const event: Event = { id: createId('whe'), kind, date: clock.date(), data };
      if (settings.webhookHold) {
        held.push(event);
      } else {
        void enqueue([event]);
      }
    },
    flush() {
      const events = held;
      held = [];
      return enqueue(events);
    },
    async settled() {
      await last;
    },
    deliveries: () => done,
    reset() {
      held = [];
      done.length = 0;
    },
  };
}
