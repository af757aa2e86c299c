/**
 * The webhooks of the running agent: its jobs, its schedules, its ledger and its targets.
 *
 * @module
 */
import { randomInt, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { JobStore, StoredJob } from '@pool/idempotency';
import { createLabelFinder, occurrenceScope, toOccurrence } from '@pool/pay-run';
import { type Log, systemClock } from '@pool/wallet/node';
import {
  createPinnedFetch,
  listJobEvents,
  listOccurrenceEvents,
  readTargets,
  startWebhooks,
  type ToldOccurrence,
  type WebhookWorker,
} from '@pool/webhooks';
import type { Config } from '../../config/config.ts';

/** @returns undefined without a file of targets */
export function startConfiguredWebhooks(input: {
  readonly config: Config;
  readonly store: JobStore;
  readonly log: Log;
  readonly findScope: () => string | undefined;
}): WebhookWorker | undefined {
  const { config, store, log, findScope } = input;
  const { webhooks: place } = config;
  if (place === undefined) {
    return undefined;
  }
  const findLabel = createLabelFinder(config);
  return startWebhooks({
    ...{ store, log, findScope },
    furtherScopes: [occurrenceScope],
    listEvents: async (job, scope) =>
      job.scope === occurrenceScope
        ? listOccurrenceEvents(scope, describeOccurrence(job))
        : listJobEvents(job, await findLabel(job.key)),
    readTargets: () => readTargets(place),
    fetch: createPinnedFetch(place),
    clock: systemClock,
    random: () => randomInt(1_000_000) / 1_000_000,
    workerId: `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`,
    idleMs: 2_000,
  });
}

/** Without its roster, and without the message of its cause. @throws PoolError `store_damaged` */
function describeOccurrence(job: StoredJob): ToldOccurrence {
  const { plan, state, prepared, cause } = toOccurrence(job);
  const { schedule, period, label, definedAtMs, releaseByMs, payAtMs } = plan;
  return {
    ...{ schedule, period, label, definedAtMs, releaseByMs, payAtMs, state },
    preparedAtMs: prepared?.atMs,
    cause: cause && { code: cause.code, atMs: cause.atMs },
    updatedAtMs: job.updatedAtMs,
  };
}
