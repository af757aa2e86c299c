/**
 * One attempt to deliver an event, and when the next one follows. Format: Standard Webhooks (https://www.standardwebhooks.com).
 *
 * @module
 */
import { createHmac } from 'node:crypto';
import { errorCodeOf, isPoolError } from '@pool/core';
import { type Fetch, fetchBounded } from '@pool/http-client';
import { serializeEvent, type WebhookEvent } from './events.ts';
import type { WebhookTarget } from './targets.ts';

const timeoutMs = 15_000;
/** The answer is not used; a larger one is a failure. */
const maxAnswerBytes = 64 * 1024;

export type AttemptOutcome =
  | { readonly kind: 'delivered'; readonly status: number }
  /** @param retryAfterMs - what the receiver asked for */
  | {
      readonly kind: 'failed';
      readonly status?: number;
      readonly reason: string;
      readonly retryAfterMs?: number;
    }
  /** 410: the receiver takes no event any more. */
  | { readonly kind: 'gone'; readonly status: number; readonly reason: string };

/** @throws the reason of the signal */
export async function sendEvent(
  target: Pick<WebhookTarget, 'url' | 'secrets'>,
  event: WebhookEvent,
  deps: { readonly fetch: Fetch; readonly nowMs: number; readonly signal?: AbortSignal },
): Promise<AttemptOutcome> {
  const body = serializeEvent(event);
  const sentAt = Math.floor(deps.nowMs / 1000);
  const signatures = target.secrets.map((secret) => sign(secret, `${event.id}.${sentAt}.${body}`));
  try {
    const { status, headers } = await fetchBounded(
      {
        fetch: deps.fetch,
        url: new URL(target.url),
        service: 'webhook',
        timeoutMs,
        maxBytes: maxAnswerBytes,
        signal: deps.signal,
        init: {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'user-agent': 'disburse-agent',
            'webhook-id': event.id,
            'webhook-timestamp': String(sentAt),
            'webhook-signature': signatures.join(' '),
          },
          body,
        },
      },
      discard,
    );
    return judge(status, headers.get('retry-after'));
  } catch (error) {
    deps.signal?.throwIfAborted();
    return {
      kind: 'failed',
      reason: isPoolError(error) ? error.message : (errorCodeOf(error) ?? 'no answer'),
    };
  }
}

/** Symmetric signatures of the specification. The tests verify them with its own library. @param secret - `whsec_` and base64 */
function sign(secret: string, content: string): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}

function judge(status: number, retryAfter: string | null): AttemptOutcome {
  const reason = `HTTP ${status}`;
  if (status >= 200 && status <= 299) {
    return { kind: 'delivered', status };
  }
  if (status === 410) {
    return { kind: 'gone', status, reason };
  }
  const seconds = /^[0-9]{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : 0;
  return { kind: 'failed', status, reason, retryAfterMs: seconds * 1_000 };
}

async function discard(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks) {
    // Read so that its size is limited and the connection ends.
  }
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Pauses after each failed attempt: some three days together. */
const pausesMs = [
  5_000,
  5 * minuteMs,
  30 * minuteMs,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs),
];

/** Attempts at one delivery, the first one included. */
export const maxAttempts = pausesMs.length + 1;

/**
 * How long the next attempt waits, in milliseconds: exponential, with up to a fifth more, so that targets that were down together are
 * not asked together.
 * @param attempts - failed so far, from 1
 * @param random - 0 … 1
 * @returns undefined: there is no further attempt
 */
export function computePause(
  attempts: number,
  random: number,
  retryAfterMs = 0,
): number | undefined {
  const pauseMs = pausesMs[attempts - 1];
  return pauseMs === undefined
    ? undefined
    : Math.round(Math.max(pauseMs * (1 + random / 5), Math.min(retryAfterMs, dayMs)));
}
