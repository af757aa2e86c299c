// The hostile tenant in full: one employer whose funder is a contract that burns gas, with replays, far deadlines and enrolments of
// throwaway wallets, next to five honest employers. Real chain and verifiers, platform and gate as processes, real proofs made before.
import { loadavg } from 'node:os';
import { runTenancy } from '../../../apps/platform/src/fixtures/tenancy/run.ts';
import { startServices } from '../../../apps/platform/src/fixtures/tenancy/services.ts';
import { createTenants } from '../../../apps/platform/src/fixtures/tenancy/tenants.ts';
import { describeMachine } from '../machine.ts';
import { saveHostileResults } from '../results-store.ts';
import type { HostileResults, Percentiles } from './render-hostile.ts';

/** Otherwise the platform runs with its defaults. */
const limits = {
  PLATFORM_WALLETS_PER_EMPLOYER: '200',
  PLATFORM_EMPLOYER_DAILY_GAS: '12000000',
  PLATFORM_RELAYER_MAX_FEE_GWEI: '5',
};
const honestEmployers = 5;
const settlementsEach = 3;
const hostileSettlements = 5;

/** Runs it and keeps the results. */
export async function runHostileBench(
  minutes: number,
  onStep: (step: string) => void,
): Promise<void> {
  onStep('starting chain, gate and platform');
  const services = await startServices(limits);
  try {
    const count = { honest: honestEmployers, each: settlementsEach, hostile: hostileSettlements };
    const tenants = await createTenants(services, count, onStep);
    onStep(`the hostile tenant, ${minutes} minutes`);
    const [loadBefore = 0] = loadavg();
    const report = await runTenancy(services, tenants, {
      seconds: minutes * 60,
      enrolmentsPerMinute: 100,
      replaysPerSecond: 1,
      signInsPerSecond: 2,
    });
    const [loadAfter = 0] = loadavg();
    const results: HostileResults = {
      machine: describeMachine(),
      date: new Date().toISOString().slice(0, 10),
      minutes,
      loadAverage: [loadBefore, loadAfter],
      limits,
      sent: report.honest.sent,
      settled: report.honest.settled,
      settledMs: computePercentiles(report.settledMs),
      signIns: report.signIns,
      signInMs: computePercentiles(report.signInMs),
      hostile: report.hostile,
      walletsEnrolled: report.eligibility.walletsAfter - report.eligibility.walletsBefore,
      honestGas: report.gas.honest.toString(),
      otherGas: report.gas.other.toString(),
      coinSpentGwei: (report.coinSpentWei / 1_000_000_000n).toString(),
    };
    process.stdout.write(`${JSON.stringify(results, null, 1)}\n`);
    saveHostileResults(results);
  } finally {
    await services.stop();
  }
}

function computePercentiles(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 };
}
