/**
 * The events that receivers are told. An event names what happened to which job. It carries no amount, recipient or memo, because it
 * leaves the machine and stays in the logs of its receiver.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import * as v from 'valibot';

/** Every type of event. A receiver ignores types that it does not know: later versions add some. */
export const webhookEventTypes = [
  /** The agent has stored the job. */
  'job.accepted',
  /** The job waits for people, is on its way to the chain, was refused there, or is being withdrawn. */
  'job.stage_changed',
  /** Every recipient of the request is paid. */
  'job.completed',
  /** The batch is paid, and recipients were left out of it under `unregistered: skip`. */
  'job.partial',
  /** Nothing was paid. */
  'job.failed',
  /** Nothing was paid, because the job was cancelled. */
  'job.cancelled',
  /** The payment waits for people of the release policy, or for the owners of a contract wallet. */
  'release.waiting',
  /** As many have released it as must. */
  'release.released',
  /** A person denied it. Nothing is paid. */
  'release.denied',
  /** A scheduled payment cannot be prepared yet. It is skipped if that lasts until its deadline. */
  'schedule.not_ready',
  /** A scheduled payment is prepared, and waits for its release and its time. */
  'schedule.prepared',
  /** All of a scheduled payment is paid. */
  'schedule.paid',
  /** Some parts of a scheduled payment are paid, and no other one will be. */
  'schedule.partly_paid',
  /** Nothing of a scheduled payment is paid: it was late, not released, denied, cancelled, or withdrawn. */
  'schedule.skipped',
  /** Nothing of a scheduled payment is paid: its jobs failed. */
  'schedule.unpaid',
  /** `webhooks test` sent it. */
  'webhook.test',
] as const;
export type WebhookEventType = (typeof webhookEventTypes)[number];

const eventSchema = v.strictObject({
  /** The `webhook-id`: the same for every delivery of the event. */
  id: v.string(),
  type: v.picklist(webhookEventTypes),
  /** When it happened, ISO 8601 in UTC. */
  timestamp: v.string(),
  data: v.strictObject({
    /** Idempotency-Key of the job. */
    key: v.optional(v.string()),
    /** The label of the pay run that the job pays. Absent: it was not sent from this agent's ledger. */
    label: v.optional(v.string()),
    /** As `GET /api/disburse/:key` answers it. */
    state: v.optional(v.string()),
    /** Of an event `job.stage_changed`. */
    stage: v.optional(v.string()),
    /** Why the job failed, or the scheduled payment is not ready or not paid (docs/errors.md). */
    errorCode: v.optional(v.string()),
    /** Of a release: who decides, `people` of the release policy or the `owners` of a contract wallet. */
    releasers: v.optional(v.string()),
    /** Of a scheduled payment: the name of its schedule. */
    schedule: v.optional(v.string()),
    /** Of a scheduled payment, for example `2027-03`. */
    period: v.optional(v.string()),
    /** Without its release before then it is not paid. ISO 8601 in UTC, as is the next one. */
    releaseBy: v.optional(v.string()),
    /** It is not paid before then. */
    payAt: v.optional(v.string()),
  }),
});
export type WebhookEvent = v.InferOutput<typeof eventSchema>;

/** A delivery as it is stored: the event, and what became of it at one target. */
export const deliverySchema = v.strictObject({
  event: eventSchema,
  attempts: v.number(),
  last: v.optional(
    v.strictObject({
      atMs: v.number(),
      /** Absent: there was no answer. */
      status: v.optional(v.number()),
      /** Why the attempt failed. */
      reason: v.optional(v.string()),
    }),
  ),
  /** Of a pending delivery. */
  nextAtMs: v.optional(v.number()),
});
export type StoredDelivery = v.InferOutput<typeof deliverySchema>;

/** The id of an event: the same on every agent and after every restart. @param slot - what happened, once per subject */
export function computeEventId(...parts: readonly [scope: string, subject: string, slot: string]) {
  const digest = createHash('sha256').update(JSON.stringify(['pool/webhook', ...parts]));
  return `msg_${digest.digest('hex').slice(0, 32)}`;
}

/** The body of the request, byte for byte the same at each attempt. */
export function serializeEvent({ type, timestamp, data }: WebhookEvent): string {
  return JSON.stringify({ type, timestamp, data });
}
