// The hostile tenant in full: one employer whose funder is a contract that burns gas, with replays, far deadlines and enrolments of
// throwaway wallets, beside five honest employers. Real chain and verifiers, platform and gate as processes, real proofs made ahead.
import { loadavg } from 'node:os';
import { type Counts, runTenancy } from '../../../apps/platform/src/fixtures/tenancy/run.ts';
import { startServices } from '../../../apps/platform/src/fixtures/tenancy/services.ts';
import { createTenants } from '../../../apps/platform/src/fixtures/tenancy/tenants.ts';
import { describeMachine } from '../machine.ts';
import { saveHostileResults } from '../results-store.ts';

/** Besides these, the platform runs with its defaults. */
const limits = {
  PLATFORM_WALLETS_PER_EMPLOYER: '200',
  PLATFORM_EMPLOYER_DAILY_GAS: '12000000',
  PLATFORM_RELAYER_MAX_FEE_GWEI: '5',
};
const honestEmployers = 5;
const settlementsEach = 3;
const hostileSettlements = 5;

export interface HostileResults {
  readonly machine: string;
  /** YYYY-MM-DD */
  readonly date: string;
  readonly minutes: number;
  /** Over one minute, at the start and the end of the attack: the machine may have had other work. */
  readonly loadAverage: readonly [number, number];
  readonly limits: Readonly<Record<string, string>>;
  readonly sent: number;
  readonly settled: number;
  readonly settledMs: Percentiles;
  readonly signIns: Counts;
  readonly signInMs: Percentiles;
  readonly hostile: Readonly<Record<string, Counts>>;
  readonly walletsEnrolled: number;
  readonly honestGas: string;
  readonly otherGas: string;
  readonly coinSpentGwei: string;
}

export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

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

export function renderHostileResults(results: HostileResults): string {
  const { signInMs, settledMs, loadAverage } = results;
  const ms = (value: number) => `${value.toFixed(0)} ms`;
  const counts = (some: Counts = {}) =>
    Object.entries(some)
      .map(([what, count]) => `${count} × ${what}`)
      .join(', ') || 'none';
  const rows = [
    ['honest settlements sent, settled', `${results.sent}, ${results.settled}`],
    ['from the post to settled: p50, p99', `${ms(settledMs.p50)}, ${ms(settledMs.p99)}`],
    ['honest sign-ins', counts(results.signIns)],
    ['a sign-in: p50, p99, slowest', [signInMs.p50, signInMs.p99, signInMs.max].map(ms).join(', ')],
    ...Object.entries(results.hostile).map(([what, some]) => [`hostile ${what}`, counts(some)]),
    ['wallets that got a place of the tree meanwhile', String(results.walletsEnrolled)],
    ['gas of honest settlements; of everything else', `${results.honestGas}; ${results.otherGas}`],
    ['coin that the relayer spent', `${results.coinSpentGwei} gwei`],
  ];
  const limits = Object.entries(results.limits).map(([name, value]) => `\`${name}=${value}\``);
  return [
    '## A hostile tenant',
    '',
    `${results.machine}. ${results.date}. ${results.minutes} minutes; load average ${loadAverage.map((load) => load.toFixed(1)).join(' at the start and ')} at the end, the other work of the machine included. One employer beside five honest ones: its funder is a contract that takes every signature in a simulation and burns its gas when it is mined; it sends far deadlines, replays a settlement once a second, and enrols 100 throwaway wallets a minute. Platform and gate are processes with their embedded database, on a real chain with the real verifiers; callers share the machine. Proofs (fund-16) were made ahead. The platform ran with ${limits.join(', ')} and \`PLATFORM_INVITATIONS=required\`. A sign-in is timed from the moment it was due.`,
    '',
    '| what | outcome |',
    '|---|---|',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
    '',
  ].join('\n');
}
