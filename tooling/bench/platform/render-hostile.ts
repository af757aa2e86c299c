// The measurements next to a hostile tenant, as a section of RESULTS.md.
import type { Counts } from '../../../apps/platform/src/fixtures/tenancy/run.ts';

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
    `${results.machine}. ${results.date}. ${results.minutes} minutes; load average ${loadAverage.map((load) => load.toFixed(1)).join(' at the start and ')} at the end. One employer beside five honest ones: its funder is a contract that burns its gas when it is mined; it sends far deadlines, replays a settlement once a second, and enrols 100 wallets a minute. The platform ran with ${limits.join(', ')} and \`PLATFORM_INVITATIONS=required\`.`,
    '',
    '| what | outcome |',
    '|---|---|',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
    '',
  ].join('\n');
}
