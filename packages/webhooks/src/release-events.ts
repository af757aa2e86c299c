/**
 * The events that follow from the release log of a job's key. A crash loses and invents none: each entry is followed by a change of the
 * job, and then the whole log of the key is read again. Entries hold totals and names of people; neither is told.
 *
 * @module
 */
import type { StoredJob } from '@pool/idempotency';
import { deserializeRecord } from '@pool/operations';
import * as v from 'valibot';
import { computeEventId, type WebhookEvent, type WebhookEventType } from './events.ts';

/** What is read of an entry of the release log. */
export type ToldEntry = {
  readonly event: string;
  /** ISO 8601. */
  readonly at: string;
  /** SHA-256 of the release policy. */
  readonly policy: string;
  /** Of the owners of a contract wallet: JSON. */
  readonly statement?: string | undefined;
};

/** `people`: of the release policy. `owners`: of a contract wallet. */
type Releasers = 'people' | 'owners';

const ownersSchema = v.object({ id: v.string(), kind: v.optional(v.string()) });

/**
 * @param label - of the pay run that the job pays
 * @param entries - of the job's key, the oldest first
 * @returns the events so far. A payment that nobody must release has none
 * @throws PoolError `job_unreadable`
 */
export function listReleaseEvents(
  { scope, key, payload }: StoredJob,
  label: string | undefined,
  entries: readonly ToldEntry[],
): readonly WebhookEvent[] {
  function create(type: WebhookEventType, releasers: Releasers, slot: string, at: string) {
    return {
      id: computeEventId(scope, key, `${type}:${releasers}:${slot}`),
      type,
      timestamp: new Date(at).toISOString(),
      data: { key, ...(label === undefined ? {} : { label }), releasers },
    };
  }

  const isAsked =
    deserializeRecord(payload).stage === 'awaiting-release' ||
    entries.some(({ event }) => event === 'release' || event === 'deny');
  const events: WebhookEvent[] = [];
  const owned = new Set<string>();
  for (const { event, at, policy, statement } of entries) {
    if (isAsked && event === 'prepare') {
      events.push(create('release.waiting', 'people', '', at));
    } else if (isAsked && event === 'released') {
      // A changed policy asks again.
      events.push(create('release.released', 'people', policy, at));
    } else if (event === 'deny') {
      events.push(create('release.denied', 'people', '', at));
    } else if (event.startsWith('owners-')) {
      const { id, kind } = readOwners(statement);
      if (event === 'owners-asked' && kind === 'fund-authorization') {
        owned.add(id);
        events.push(create('release.waiting', 'owners', id, at));
      } else if (event === 'owners-signed' && owned.delete(id)) {
        events.push(create('release.released', 'owners', id, at));
      }
    }
  }
  return events;
}

/** An entry that cannot be read must not silence the others. */
function readOwners(statement = ''): { readonly id: string; readonly kind?: string | undefined } {
  try {
    return v.parse(ownersSchema, JSON.parse(statement));
  } catch {
    return { id: '' };
  }
}
