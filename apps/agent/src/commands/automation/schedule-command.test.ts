// `disburse-agent schedule`: what a treasurer types, over a real job store, with the documents of `--json`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodes } from '@pool/pay-run';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from '../../cli.ts';

const home = mkdtempSync(join(tmpdir(), 'pool-schedule-'));
afterAll(() => rmSync(home, { recursive: true }));
const envFile = join(home, 'agent.env');
const address = `0x${'11'.repeat(20)}`;

async function run(...argv: readonly string[]) {
  let text = '';
  const write = (more: string): void => {
    text += `${more}\n`;
  };
  const code = await runCli(['schedule', ...argv, '--env-file', envFile], {
    ...{ out: write, err: write },
    terminal: { isTty: false, write },
  });
  return { code, text };
}

function writeSettings(more: readonly string[]): void {
  const settings = [
    `DISBURSE_HOME=${home}`,
    'DISBURSE_PLATFORM_URL=http://127.0.0.1:1/agent-edge',
    'DISBURSE_PLATFORM_TOKEN=pool_edge_canary',
    `DISBURSE_CHAINS_FILE=${join(home, 'chains.json')}`,
    ...more,
  ];
  writeFileSync(envFile, settings.join('\n'));
}

beforeAll(() => {
  const base = {
    ...{ family: 'evm', chainId: 31337, rpcUrl: 'http://127.0.0.1:1', pool: address },
    ...{ registry: address, deployedAtBlock: 0, finality: { kind: 'depth', blocks: 1 } },
    ...{ maxRecipients: 8, tokens: { USDC: { address, decimals: 6 } } },
  };
  const evidence = { domain: 'pool.test', uri: 'https://pool.test' };
  writeFileSync(join(home, 'chains.json'), JSON.stringify({ evidence, chains: { base } }));
  const rule = { chain: 'base', token: 'USDC', from: '0', required: 1, people: ['Ben'] };
  const people = [
    { name: 'Ada', prepares: ['loopback'] },
    { name: 'Ben', publicKey: `0x${'ab'.repeat(32)}` },
  ];
  const policy = { version: 1, name: 'payroll', waitHours: 72, people, rules: [rule] };
  writeFileSync(join(home, 'policy.json'), JSON.stringify(policy));
});

const monthly = [
  ...['add', 'monthly', '--roster', join(home, '{period}.csv'), '--label', 'salaries-{period}'],
  ...['--when', 'last working day', '--time', '09:00', '--zone', 'Europe/Berlin', '--decimal'],
];

it('refuses a schedule without a release policy, and says what to set', async () => {
  writeSettings([]);
  const { code, text } = await run(...monthly);
  expect(code).not.toBe(exitCodes.ok);
  expect(text).toContain('DISBURSE_RELEASE_POLICY');
  expect((await run('list')).text).toContain('no schedule');
});

it('adds, shows, pauses, skips ahead and removes one, in words and as envelopes', async () => {
  writeSettings([`DISBURSE_RELEASE_POLICY=${join(home, 'policy.json')}`]);
  const added = await run(...monthly, '--json');
  const { ok, data } = JSON.parse(added.text) as {
    ok: boolean;
    data: { next: { period: string; label: string; payAt: string; releaseBy: string }[] };
  };
  expect([added.code, ok, data.next.length]).toEqual([0, true, 3]);
  const [first] = data.next;
  expect(first?.label).toBe(`salaries-${first?.period}`);
  const day = 86_400_000;
  expect(Date.parse(first?.payAt ?? '') - Date.parse(first?.releaseBy ?? '')).toBe(day);
  expect((await run('list')).text).toMatch(/^monthly {2}active/);
  expect((await run('next', 'monthly', '--count', '5')).text.trim().split('\n')).toHaveLength(5);
  const dry = await run('dry-run', 'monthly');
  expect([dry.code, dry.text.match(/is not there yet/g)?.length]).toEqual([0, 3]);
  writeFileSync(join(home, `${first?.period}.csv`), 'address,amount\n');
  const wrong = await run('dry-run', 'monthly');
  expect(wrong.code).toBe(exitCodes.refused);
  expect(wrong.text.match(/is not there yet/g)?.length).toBe(2);
  expect((await run('pause', 'monthly')).text).toContain('is paused');
  expect((await run('resume', 'monthly')).text).toContain('is active');
  expect((await run('show', 'monthly')).text).toContain('last working day at 09:00 Europe/Berlin');
  expect((await run('remove', 'monthly')).text).toContain('is removed');
  const missing = await run('show', 'other', '--json');
  expect(JSON.parse(missing.text.slice(0, missing.text.lastIndexOf('}') + 1))).toMatchObject({
    ok: false,
    error: { code: 'not_found' },
  });
});

it('reads the days on which nothing is paid, and names a line that is none', async () => {
  const list = join(home, 'holidays.txt');
  writeFileSync(list, '# Berlin\r\n2099-12-31 # a Thursday\n\n2099-12-30\n2099-12-31\n');
  const more = ['--holidays', list, '--on-holiday', 'earlier'];
  const argv = ['add', 'free', ...monthly.slice(2), ...more];
  const added = await run(...argv);
  expect(added.code, added.text).toBe(0);
  expect((await run('show', 'free')).text).toContain('holidays: earlier, known until 2099-12-31');
  expect((await run('show', 'free', '--json')).text).toContain('"2099-12-30"');
  expect((await run('remove', 'free')).code).toBe(0);
  writeFileSync(list, '2099-12-31\n24.12.2099\n');
  expect((await run(...argv)).text).toMatch(/holidays\.txt" line 2: .*24\.12\.2099/);
  const winter = Array.from({ length: 40 }, (_, at) => {
    return new Date(Date.UTC(2099, 11, 1 + at)).toISOString().slice(0, 10);
  });
  writeFileSync(list, winter.join('\n'));
  expect((await run(...argv)).text).toContain('no working day within 14 days');
  writeFileSync(list, '# nothing\n');
  expect((await run(...argv)).text).toContain('has 0 days');
});

it.each([
  [['--label', 'salaries-{period}', '--holidays', '/x'], 'belong together'],
  [['--label', 'x-{period}', '--on-holiday', 'skip', '--holidays', '/x'], 'cannot be read'],
  [
    ['--label', 'x-{period}', '--when', 'every day', '--on-holiday', 'later', '--holidays', '/x'],
    'two days would become one',
  ],
  [['--label', 'salaries'], '{period}'],
  [['--label', 'salaries-{period}', '--when', 'day 31'], 'last day'],
  [['--label', 'salaries-{period}', '--zone', 'Berlin'], 'Europe/Berlin'],
  [['--label', 'salaries-{period}', '--time', '9'], '09:00'],
  [['--label', 'salaries-{period}', '--release-before', '5d'], '--prepare-before'],
  [['--label', 'salaries-{period}', '--prepare-before', '9d'], 'waitHours'],
  [['--label', 'gehälter/{period}'], '--label'],
])('refuses %j', async (changed, message) => {
  const given = new Map<string, string>();
  const pairs = [...monthly.slice(2).filter((word) => word !== '--decimal'), ...changed];
  for (let at = 0; at < pairs.length; at += 2) {
    given.set(pairs[at] ?? '', pairs[at + 1] ?? '');
  }
  const { code, text } = await run('add', 'wrong', ...[...given].flat());
  expect(code).not.toBe(exitCodes.ok);
  expect(text).toContain(message);
});
