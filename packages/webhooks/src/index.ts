/**
 * Webhooks of the disbursement agent: events of jobs, releases and schedules, stored with them and delivered at least once.
 *
 * @module
 */

export {
  computeEventId,
  type StoredDelivery,
  serializeEvent,
  type WebhookEvent,
  type WebhookEventType,
  webhookEventTypes,
} from './events.ts';
export { listJobEvents } from './job-events.ts';
export { createPinnedFetch, isPublicAddress, type ResolveHost } from './pinned-fetch.ts';
export { listReleaseEvents, type ToldEntry } from './release-events.ts';
export { listOccurrenceEvents, type ToldOccurrence } from './schedule-events.ts';
export {
  createWebhookSecret,
  readTargets,
  type TargetPlace,
  type WebhookTarget,
} from './targets.ts';
export {
  listDeliveries,
  listWebhooks,
  replayWebhooks,
  rotateWebhook,
  testWebhook,
  type WebhookCommandDeps,
} from './webhook-commands.ts';
export {
  startWebhooks,
  type WebhookLog,
  type WebhookWorker,
  type WebhookWorkerOptions,
} from './webhook-worker.ts';
