/**
 * The events that follow from a stored job. A crash loses and invents none: they are read from the record that the job itself is
 * continued from.
 *
 * @module
 */
import type { JobStage } from '@pool/core';
import type { StoredJob } from '@pool/idempotency';
import { deserializeRecord } from '@pool/operations';
import { computeEventId, type WebhookEvent, type WebhookEventType } from './events.ts';

/** The stages that are told. A job passes through the others within minutes. */
const toldStages: readonly (JobStage | undefined)[] = [
  'awaiting-release',
  'awaiting-approval',
  'settling',
  'settlement-refused',
  'cancelling',
  'configuration-changed',
];

/** What happened last to a job, and when. */
type Happening = { readonly slot: string; readonly type: WebhookEventType; readonly atMs: number };

/**
 * @param label - of the pay run that the job pays
 * @returns the events of the job so far, the first one first. A stage that has passed is not among them
 * @throws PoolError `job_unreadable`
 */
export function listJobEvents(job: StoredJob, label: string | undefined): readonly WebhookEvent[] {
  const record = deserializeRecord(job.payload);
  const { scope, key, state, createdAtMs, updatedAtMs } = job;
  const { phase, stage } = record;
  const errorCode =
    phase.kind === 'failed'
      ? phase.error.code
      : phase.kind === 'reverted'
        ? phase.result.batches[0]?.error?.code
        : undefined;

  function create({ slot, type, atMs }: Happening, more: object): WebhookEvent {
    return {
      id: computeEventId(scope, key, slot),
      type,
      timestamp: new Date(atMs).toISOString(),
      data: { key, ...(label === undefined ? {} : { label }), ...more },
    };
  }

  const events = [
    create({ slot: 'accepted', type: 'job.accepted', atMs: createdAtMs }, { state: 'accepted' }),
  ];
  if (state === 'submitted' && stage !== undefined && toldStages.includes(stage)) {
    const slot = `stage:${stage}`;
    events.push(create({ slot, type: 'job.stage_changed', atMs: updatedAtMs }, { state, stage }));
  }
  const type = findEnd();
  if (type !== undefined) {
    const more = { state, ...(errorCode === undefined ? {} : { errorCode }) };
    events.push(create({ slot: 'ended', type, atMs: updatedAtMs }, more));
  }
  return events;

  function findEnd(): WebhookEventType | undefined {
    switch (phase.kind) {
      case 'completed':
        return phase.result.skipped.length === 0 ? 'job.completed' : 'job.partial';
      case 'reverted':
        return 'job.failed';
      case 'failed':
        return phase.error.code === 'cancelled' ? 'job.cancelled' : 'job.failed';
      default:
        return undefined;
    }
  }
}
