/**
 * The events that follow from a stored occurrence of a schedule. A crash loses and invents none: they are read from the row that the
 * schedule itself is continued from. Messages of an occurrence may name a line of a roster, so only their codes are told.
 *
 * @module
 */
import { computeEventId, type WebhookEvent, type WebhookEventType } from './events.ts';

/** What is told of an occurrence. */
export type ToldOccurrence = {
  readonly schedule: string;
  readonly period: string;
  readonly label: string;
  /** Names its schedule, which may be removed and added again. */
  readonly definedAtMs: number;
  readonly releaseByMs: number;
  readonly payAtMs: number;
  readonly state: 'due' | 'prepared' | 'paid' | 'partly-paid' | 'skipped' | 'unpaid';
  /** Absent: it was not prepared. */
  readonly preparedAtMs?: number | undefined;
  readonly cause?: { readonly code: string; readonly atMs: number } | undefined;
  /** Of the row. */
  readonly updatedAtMs: number;
};

const ends: Readonly<Partial<Record<ToldOccurrence['state'], WebhookEventType>>> = {
  paid: 'schedule.paid',
  'partly-paid': 'schedule.partly_paid',
  skipped: 'schedule.skipped',
  unpaid: 'schedule.unpaid',
};

/**
 * @param scope - the employer, so that two of them who tell one receiver have different ids
 * @returns the events of the occurrence so far, the first one first. Why it was not ready earlier is not among them
 */
export function listOccurrenceEvents(
  scope: string,
  occurrence: ToldOccurrence,
): readonly WebhookEvent[] {
  const { schedule, period, label, definedAtMs, state, cause, preparedAtMs } = occurrence;
  const subject = `${schedule} ${period} ${definedAtMs}`;

  function create(type: WebhookEventType, slot: string, atMs: number, errorCode?: string) {
    return {
      id: computeEventId(scope, subject, `schedule:${slot}`),
      type,
      timestamp: new Date(atMs).toISOString(),
      data: {
        ...{ schedule, period, label, state },
        releaseBy: new Date(occurrence.releaseByMs).toISOString(),
        payAt: new Date(occurrence.payAtMs).toISOString(),
        ...(errorCode === undefined ? {} : { errorCode }),
      },
    };
  }

  const events: WebhookEvent[] = [];
  if (state === 'due' && cause !== undefined) {
    events.push(create('schedule.not_ready', `not-ready:${cause.code}`, cause.atMs, cause.code));
  }
  if (preparedAtMs !== undefined) {
    events.push(create('schedule.prepared', 'prepared', preparedAtMs));
  }
  const end = ends[state];
  if (end !== undefined) {
    events.push(create(end, 'ended', occurrence.updatedAtMs, cause?.code));
  }
  return events;
}
