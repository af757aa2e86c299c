/**
 * The webhooks of the running agent: its jobs, their releases, its schedules, its ledger and its targets.
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
  listReleaseEvents,
  readTargets,
  startWebhooks,
  type ToldOccurrence,
  type WebhookEvent,
  type WebhookWorker,
} from '@pool/webhooks';
import type { Config } from '../../config/config.ts';
import { createLogOpener } from '../signers/owners-place.ts';

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
  const hasReleases =
    config.releasePolicy !== undefined || config.remoteFunder?.kind === 'contract_wallet';
  const releases = createLogOpener(config);

  async function listEvents(job: StoredJob): Promise<readonly WebhookEvent[]> {
    const label = await findLabel(job.key);
    const entries = hasReleases ? await (await releases.open()).listOf(job.key) : [];
    return [...listJobEvents(job, label), ...listReleaseEvents(job, label, entries)];
  }

  const worker = startWebhooks({
    ...{ store, log, findScope },
    furtherScopes: [occurrenceScope],
    listEvents: async (job, scope) =>
      job.scope === occurrenceScope
        ? listOccurrenceEvents(scope, describeOccurrence(job))
        : await listEvents(job),
    readTargets: () => readTargets(place),
    fetch: createPinnedFetch(place),
    clock: systemClock,
    random: () => randomInt(1_000_000) / 1_000_000,
    workerId: `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`,
    idleMs: 2_000,
    keepMs: config.webhooksRetentionDays * 86_400_000,
  });
  return {
    ...worker,
    async stop() {
      await worker.stop();
      await releases.close();
    },
  };
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
