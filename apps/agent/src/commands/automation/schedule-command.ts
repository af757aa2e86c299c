/**
 * `disburse-agent schedule`, which `@pool/pay-run` carries out on the job store of this agent.
 *
 * @module
 */
import { readChainsFile } from '@pool/configuration';
import { openJobStore } from '@pool/idempotency';
import {
  addSchedule,
  createScheduleStore,
  dryRunSchedule,
  exitCodes,
  listSchedules,
  type Output,
  type ScheduleOptions,
  type SchedulePlace,
  type Shown,
  showNext,
  showSchedule,
  skipOccurrence,
  switchSchedule,
} from '@pool/pay-run';
import { type Config, readConfig } from '../../config/config.ts';
import { createScheduleDeps, readSchedulePolicy } from '../../services/jobs/schedules.ts';
import { withLocalChecks } from '../../services/local-checks.ts';

type Options = { readonly envFile?: string; readonly json?: boolean };
type Out = Pick<Output, 'out'>;
type Place = SchedulePlace & { readonly config: Config };

/** @returns the exit code */
export async function runAdd(
  name: string,
  options: ScheduleOptions & Options & { readonly chain?: string; readonly token?: string },
  output: Out,
): Promise<number> {
  return await withPlace(options, output, (place) =>
    addSchedule(name, toPayer(place.config), options, place),
  );
}

/** @returns the exit code */
export async function runList(options: Options, output: Out): Promise<number> {
  return await withPlace(options, output, listSchedules);
}

/** @returns the exit code */
export async function runShow(name: string, options: Options, output: Out): Promise<number> {
  return await withPlace(options, output, (place) => showSchedule(name, place));
}

/** @returns the exit code */
export async function runNext(
  name: string,
  options: Options & { readonly count?: number },
  output: Out,
): Promise<number> {
  return await withPlace(options, output, (place) => showNext(name, options, place));
}

/** @returns the exit code: the highest of the dry runs */
export async function runDryRun(
  name: string,
  options: Options & { readonly count?: number },
  output: Out,
): Promise<number> {
  return await withPlace(options, output, (place) =>
    dryRunSchedule(name, toPayer(place.config), options, place),
  );
}

/** @returns the exit code */
export async function runPause(name: string, options: Options, output: Out): Promise<number> {
  return await withPlace(options, output, (place) => switchSchedule(name, 'paused', place));
}

/** @returns the exit code */
export async function runResume(name: string, options: Options, output: Out): Promise<number> {
  return await withPlace(options, output, (place) => switchSchedule(name, 'active', place));
}

/** @returns the exit code */
export async function runRemove(name: string, options: Options, output: Out): Promise<number> {
  return await withPlace(options, output, (place) => switchSchedule(name, 'removed', place));
}

/** @returns the exit code */
export async function runSkip(
  name: string,
  period: string,
  options: Options,
  output: Out,
): Promise<number> {
  return await withPlace(options, output, (place, store) =>
    skipOccurrence(name, period, { ...createScheduleDeps(place.config, store), ...place }),
  );
}

function toPayer(config: Config) {
  return {
    ledger: config,
    chain: config.chain,
    readChains: () => readChainsFile(config.chainsFile).chains,
    withChecks: <T>(work: Parameters<typeof withLocalChecks<T>>[1]) =>
      withLocalChecks(config, work),
  };
}

async function withPlace(
  { envFile, json }: Options,
  { out }: Out,
  work: (
    place: Place,
    store: Awaited<ReturnType<typeof openJobStore>>,
  ) => Promise<Shown & { readonly exitCode?: number }>,
): Promise<number> {
  const config = readConfig(envFile);
  const store = await openJobStore(config.jobs);
  try {
    const nowMs = Date.now;
    const schedules = createScheduleStore(store, nowMs);
    const policy = readSchedulePolicy(config);
    const { data, lines, exitCode } = await work({ schedules, policy, nowMs, config }, store);
    out(json === true ? data : lines.join('\n'));
    return exitCode ?? exitCodes.ok;
  } finally {
    await store.close();
  }
}
