/**
 * `disburse-agent webhooks`, which `@pool/webhooks` carries out beside the running agent.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { openJobStore } from '@pool/idempotency';
import { exitCodes, type Output } from '@pool/pay-run';
import {
  listDeliveries,
  listWebhooks,
  replayWebhooks,
  rotateWebhook,
  type TargetPlace,
  testWebhook,
  type WebhookCommandDeps,
} from '@pool/webhooks';
import { readConfig } from '../../config/config.ts';

type EnvFile = { readonly envFile?: string };
type Out = Pick<Output, 'out'>;

/** @returns the exit code */
export async function runList(
  options: EnvFile & { readonly json?: boolean },
  output: Out,
): Promise<number> {
  return await withStore(options, output, (deps) => listWebhooks(deps, options));
}

/** @returns the exit code */
export async function runDeliveries(
  target: string,
  options: EnvFile & { readonly limit?: number; readonly json?: boolean },
  output: Out,
): Promise<number> {
  return await withStore(options, output, (deps) => listDeliveries(target, deps, options));
}

/** @returns the exit code */
export async function runTest(target: string, options: EnvFile, output: Out): Promise<number> {
  return await withStore(options, output, (deps) => testWebhook(target, deps));
}

/** @returns the exit code */
export async function runReplay(
  target: string,
  event: string | undefined,
  options: EnvFile,
  output: Out,
): Promise<number> {
  return await withStore(options, output, (deps) => replayWebhooks(target, event, deps));
}

/** @returns the exit code */
export async function runRotate(
  target: string,
  options: EnvFile & { readonly finish?: boolean },
  { out }: Out,
): Promise<number> {
  rotateWebhook(target, { place: placeOf(readConfig(options.envFile)), out }, options);
  return exitCodes.ok;
}

async function withStore(
  { envFile }: EnvFile,
  { out }: Out,
  work: (deps: WebhookCommandDeps) => Promise<void>,
): Promise<number> {
  const config = readConfig(envFile);
  const place = placeOf(config);
  const store = await openJobStore(config.jobs);
  try {
    await work({ place, store, nowMs: Date.now, out });
    return exitCodes.ok;
  } finally {
    await store.close();
  }
}

function placeOf({ webhooks }: { readonly webhooks: TargetPlace | undefined }): TargetPlace {
  if (webhooks === undefined) {
    throw new PoolError(
      'invalid_configuration',
      'DISBURSE_WEBHOOKS_FILE is not set: it names the file of targets (docs/operations/webhooks.md)',
    );
  }
  return webhooks;
}
