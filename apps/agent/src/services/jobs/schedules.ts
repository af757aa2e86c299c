/**
 * The schedules of the running agent. They submit through its own routes, as the commands of a payer do.
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { readChainsFile } from '@pool/configuration';
import { type JobStore, openJobStore } from '@pool/idempotency';
import { createPaymentWindows } from '@pool/operations';
import {
  createAgentClient,
  createScheduleStore,
  openLedger,
  type ScheduleDeps,
  startSchedules,
  urlOf,
} from '@pool/pay-run';
import { type Log, systemClock } from '@pool/wallet/node';
import type { Config } from '../../config/config.ts';
import { readLoopbackToken } from '../../state/agent-home.ts';
import { withLocalChecks } from '../local-checks.ts';
import { loadReleasePolicy } from '../releases.ts';

/** @param url - of the agent; default: where the configuration has it */
export function createScheduleDeps(
  config: Config,
  store: JobStore,
  url: string = urlOf(config),
): ScheduleDeps {
  return {
    client: createAgentClient(url, readLoopbackToken(config.home)),
    openLedger: () => openLedger({ home: config.home, jobs: config.jobs }),
    readCeiling: (chain) => withLocalChecks(config, async ({ readCeiling }) => readCeiling(chain)),
    findToken: (chain, token) => readChainsFile(config.chainsFile).chains[chain]?.tokens[token],
    windows: createPaymentWindows(store),
    policy: readSchedulePolicy(config),
    nowMs: systemClock.nowMs,
  };
}

/** The release policy, without which nothing is scheduled. @throws PoolError `invalid_policy` */
export function readSchedulePolicy(config: Config): ScheduleDeps['policy'] {
  const { chains } = readChainsFile(config.chainsFile);
  const contexts = Object.entries(chains).map(([key, settings]) => [key, { settings }] as const);
  return loadReleasePolicy(config, new Map(contexts));
}

/** Starts when the agent listens at the URL. @returns what ends it */
export async function startConfiguredSchedules(
  config: Config,
  url: string,
  log: Log,
): Promise<{ stop(): Promise<void> }> {
  const store = await openJobStore(config.jobs);
  const worker = startSchedules({
    ...createScheduleDeps(config, store, url),
    schedules: createScheduleStore(store, systemClock.nowMs),
    workerId: `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`,
    log,
    idleMs: 5_000,
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
  });
  return {
    async stop() {
      await worker.stop();
      await store.close();
    },
  };
}
