/**
 * Webhooks of custodian A: an HMAC over the raw bytes. An event is a hint to poll earlier and nothing else: events are lost, repeated
 * and out of order, so the poll is the truth. Vectors: vectors/custodian-a.json.
 *
 * @module
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '@pool/core';
import * as v from 'valibot';

/** An event that was sent longer ago is refused. */
const maxAgeMs = 300_000;

const eventSchema = v.object({
  id: v.pipe(v.string(), v.maxLength(200)),
  kind: v.pipe(v.string(), v.maxLength(200)),
  /** Unix seconds of this delivery. */
  timestampSent: v.pipe(v.number(), v.integer()),
});

export type CustodianAEvent = v.InferOutput<typeof eventSchema>;

/**
 * Reads an event. Its data is dropped on purpose: nothing may be decided from it.
 * @param request.rawBody - the bytes as they arrived; JSON that was parsed and written again has another HMAC
 * @param request.signature - the header `<prefix>webhook-signature`
 * @returns undefined if the event is not the provider's, or was not sent within 5 minutes of `nowMs`
 */
export function readCustodianAEvent(request: {
  readonly secret: Secret;
  readonly rawBody: Uint8Array;
  readonly signature: string | undefined;
  readonly nowMs: number;
}): CustodianAEvent | undefined {
  const { secret, rawBody, signature, nowMs } = request;
  if (secret.reveal() === '') {
    return undefined;
  }
  const expected = createHmac('sha256', secret.reveal()).update(rawBody).digest();
  const digits = /^sha256=([0-9a-f]{64})$/.exec(signature ?? '')?.[1];
  if (digits === undefined || !timingSafeEqual(Buffer.from(digits, 'hex'), expected)) {
    return undefined;
  }
  const event = v.safeParse(eventSchema, parseJson(rawBody));
  if (!event.success || Math.abs(1000 * event.output.timestampSent - nowMs) > maxAgeMs) {
    return undefined;
  }
  return event.output;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
