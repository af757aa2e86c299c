/**
 * The webhooks of the running agent: its jobs, its ledger and its targets.
 *
 * @module
 */
import { randomInt, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { JobStore } from '@pool/idempotency';
import { createLabelFinder } from '@pool/pay-run';
import { type Log, systemClock } from '@pool/wallet/node';
import {
  createPinnedFetch,
  listJobEvents,
  readTargets,
  startWebhooks,
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
    listEvents: async (job) => listJobEvents(job, await findLabel(job.key)),
    readTargets: () => readTargets(place),
    fetch: createPinnedFetch(place),
    clock: systemClock,
    random: () => randomInt(1_000_000) / 1_000_000,
    workerId: `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`,
    idleMs: 2_000,
  });
}
