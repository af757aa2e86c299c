// `pnpm bench hostile [--minutes 10]`: one employer whose funder is a contract that burns gas, with replays, far deadlines and enrolments
// of throwaway wallets, next to five honest employers. Real chain and verifiers, platform and gate as processes, real proofs made before.
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { type Counts, runTenancy } from '../../apps/platform/src/fixtures/tenancy/run.ts';
import { startServices } from '../../apps/platform/src/fixtures/tenancy/services.ts';
import { createTenants } from '../../apps/platform/src/fixtures/tenancy/tenants.ts';
import { findQuantile } from './agent/load.ts';
import { createStamp } from './results.ts';
import { saveSection } from './results-store.ts';

/** Otherwise the platform runs with its defaults. */
const limits = {
  PLATFORM_WALLETS_PER_EMPLOYER: '200',
  PLATFORM_EMPLOYER_DAILY_GAS: '12000000',
  PLATFORM_RELAYER_MAX_FEE_GWEI: '5',
};

function describeCounts(counts: Counts): string {
  return (
    Object.entries(counts)
      .map(([what, count]) => `${count} × ${what}`)
      .join(', ') || 'none'
  );
}

function describeQuantiles(valuesMs: readonly number[]): string {
  return [0.5, 0.99, 1].map((share) => `${findQuantile(valuesMs, share).toFixed(0)} ms`).join(', ');
}

/** Runs the benchmark with the options of the command line. */
export async function runHostileBench(args: readonly string[]): Promise<void> {
  const options = { minutes: { type: 'string', default: '10' } } as const;
  const minutes = Number(parseArgs({ args: [...args], options }).values.minutes);
  const say = (step: string) => process.stderr.write(`${step}\n`);
  say('starting chain, gate and platform');
  const services = await startServices(limits);
  try {
    const tenants = await createTenants(services, { honest: 5, each: 3, hostile: 5 }, say);
    say(`the hostile tenant, ${minutes} minutes`);
    const [loadBefore = 0] = loadavg();
    const { honest, settledMs, signIns, signInMs, hostile, eligibility, gas, coinSpentWei } =
      await runTenancy(services, tenants, {
        seconds: minutes * 60,
        enrolmentsPerMinute: 100,
        replaysPerSecond: 1,
        signInsPerSecond: 2,
      });
    const [loadAfter = 0] = loadavg();
    const names = Object.entries(limits).map(([name, value]) => `\`${name}=${value}\``);
    saveSection('hostile', {
      title: 'A hostile tenant',
      ...createStamp(),
      about: `${minutes} minutes; load average ${loadBefore.toFixed(1)} at the start and ${loadAfter.toFixed(1)} at the end. One employer beside five honest ones: its funder is a contract that burns its gas when it is mined; it sends far deadlines, replays a settlement once a second, and enrols 100 wallets a minute. The platform ran with ${names.join(', ')} and \`PLATFORM_INVITATIONS=required\`.`,
      tables: [
        {
          columns: ['what', 'outcome'],
          rows: [
            ['honest settlements sent, settled', `${honest.sent}, ${honest.settled}`],
            ['from the post to settled: p50, p99, slowest', describeQuantiles(settledMs)],
            ['honest sign-ins', describeCounts(signIns)],
            ['a sign-in: p50, p99, slowest', describeQuantiles(signInMs)],
            ...Object.entries(hostile).map(([what, some]) => [
              `hostile ${what}`,
              describeCounts(some),
            ]),
            [
              'wallets that got a place of the tree meanwhile',
              String(eligibility.walletsAfter - eligibility.walletsBefore),
            ],
            ['gas of honest settlements; of everything else', `${gas.honest}; ${gas.other}`],
            ['coin that the relayer spent', `${coinSpentWei / 1_000_000_000n} gwei`],
          ],
        },
      ],
    });
  } finally {
    await services.stop();
  }
}
