// `status`, `doctor` and `completion`: what they find with and without a running agent.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveHttp } from '@pool/http-server';
import { openJobStore } from '@pool/idempotency';
import { createScheduleStore, openPayRunLedger } from '@pool/pay-run';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runCli } from '../../cli.ts';
import { writeAgentFiles } from '../../fixtures/stub-platform.ts';
import { createTestApp, loopbackToken } from '../../fixtures/test-app.ts';
import type { Paint } from '../../terminal/paint.ts';
import { checkClock, checkDisk, checkPermissions, type Diagnosis } from './machine-checks.ts';

const secret = 'canary';

function createAgent(port: string | number, ...lines: readonly string[]) {
  const home = mkdtempSync(join(tmpdir(), 'pool-machine-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const envFile = writeAgentFiles(home, 'http://127.0.0.1:1', [
    `DISBURSE_PORT=${port}`,
    'DISBURSE_CHAIN=anvil',
    'DISBURSE_PROVER=mock',
    ...lines,
  ]);
  writeFileSync(join(home, 'loopback.token'), `${loopbackToken}\n`, { mode: 0o600 });
  chmodSync(envFile, 0o600);
  return { home, envFile };
}

async function run(argv: readonly string[], paint?: Paint) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCli(argv, {
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
    terminal: { isTty: false, write: (text) => void err.push(text) },
    ...(paint === undefined ? {} : { paint }),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

async function serveAgent(): Promise<string> {
  const { app } = createTestApp();
  const server = await serveHttp((request, from) => app.fetch(request, from), {
    ...{ host: '127.0.0.1', port: 0, onRefused: () => undefined },
  });
  onTestFinished(() => server.close());
  return new URL(server.url).port;
}

describe('status', () => {
  it('shows the running agent, its jobs and the oldest open one', async () => {
    const { home, envFile } = createAgent(await serveAgent());
    const store = await openJobStore({ url: `sqlite:${join(home, 'jobs.sqlite')}` });
    for (const [nowMs, key] of [
      [1_000, 'june'],
      [2_000, 'july'],
    ] as const) {
      const claim = { scope: 's', key, fingerprint: 'f', payload: '{}', nowMs };
      await store.claim({ ...claim, state: key === 'june' ? 'submitted' : 'accepted' });
    }
    await store.close();
    const jobs = ['--env-file', envFile];
    const { code, out } = await run(['status', ...jobs, '--json']);
    const { ok, data } = JSON.parse(out);
    expect([ok, data.agent.isRunning]).toEqual([true, true]);
    expect(code).toBe(data.agent.readiness.ok ? 0 : 1);
    expect(data.jobs).toEqual({
      byState: { submitted: 1, accepted: 1 },
      openByStage: { unknown: 1 },
      oldestOpen: { key: 'june', state: 'submitted', createdAtMs: 1_000 },
    });
    expect(data.chains).toEqual([{ chain: 'anvil', maxRecipients: 64, tokens: ['USDC'] }]);
    const shown = await run(['status', ...jobs]);
    expect(shown.out).toMatch(/^agent .* up [\s\S]*^jobs +1 submitted, 1 accepted$/m);
    expect(shown.out).toMatch(/^oldest +june: submitted, for /m);
  });

  it('shows the schedules and the next payment, and why it is not prepared', async () => {
    const { home, envFile } = createAgent(9);
    const store = await openJobStore({ url: `sqlite:${join(home, 'jobs.sqlite')}` });
    const schedules = createScheduleStore(store, () => 1_000);
    const order = {
      ...({ version: 1, time: '12:00', zone: 'UTC', roster: '/r.csv', label: 'bonus' } as const),
      ...{ chain: 'anvil', token: 'USDC', tokenAddress: `0x${'22'.repeat(20)}`, decimals: 6 },
      ...({ format: 'decimal', unregistered: 'fail', createdAtMs: 1_000 } as const),
      ...{ prepareMs: 172_800_000, releaseMs: 86_400_000, lateMs: 3_600_000 },
    };
    for (const [name, date] of [
      ['later', '2099-12-25'],
      ['bonus', '2099-12-24'],
      ['stopped', '2099-12-23'],
    ] as const) {
      await schedules.add({ ...order, name, when: { kind: 'once', date } });
    }
    await schedules.switch('stopped', 'paused');
    const shown = await run(['status', '--env-file', envFile]);
    expect(shown.out).toContain(
      'schedules 2 active, 1 paused; next: bonus 2099-12-24, ahead, released before 2099-12-23T12:00:00.000Z, paid 2099-12-24T12:00:00.000Z',
    );
    const { prepareMs: _p, releaseMs: _r, lateMs: _l, version: _v, ...rest } = order;
    const { createdAtMs: definedAtMs, time: _t, ...plan } = rest;
    const atMs = Date.parse('2099-12-24T12:00:00Z');
    await schedules.notice({
      ...{ ...plan, schedule: 'bonus', definedAtMs, period: '2099-12-24', date: '2099-12-24' },
      ...{ prepareAtMs: atMs, releaseByMs: atMs, payAtMs: atMs, payByMs: atMs },
    });
    const leased = await schedules.lease('bonus 2099-12-24', 'test', 1_000);
    const cause = { code: 'invalid_roster', message: 'line 6', atMs: 1 };
    const due = await schedules.decide(leased!, { ...leased!.occurrence, cause });
    const { out } = await run(['status', '--json', '--env-file', envFile]);
    expect(JSON.parse(out).data.schedules).toMatchObject({
      ...{ active: 2, paused: 1 },
      next: { schedule: 'bonus', state: 'due', code: 'invalid_roster' },
    });
    expect(out).not.toContain('line 6');
    await schedules.decide(due, { ...due.occurrence, state: 'skipped' });
    await store.close();
    const after = await run(['status', '--env-file', envFile]);
    expect(after.out).toContain('next: later 2099-12-25');
  });

  it('shows everything else beside a damaged schedule, and ends with 1', async () => {
    const { home, envFile } = createAgent(await serveAgent());
    const healthy = await run(['status', '--env-file', envFile]);
    const store = await openJobStore({ url: `sqlite:${join(home, 'jobs.sqlite')}` });
    const row = { scope: ':schedules', key: 'monthly', fingerprint: 'f', state: 'active' };
    await store.claim({ ...row, payload: '{"version":', nowMs: 1_000 });
    await store.close();
    const { code, out } = await run(['status', '--env-file', envFile]);
    const added = out.split('\n').filter((line) => !healthy.out.split('\n').includes(line));
    expect([code, added]).toEqual([
      1,
      [
        'schedules 0 active; no payment ahead',
        expect.stringMatching(/^DAMAGED +the schedule "monthly" .*backup.*schedule remove monthly/),
      ],
    ]);
    const { data } = JSON.parse((await run(['status', '--env-file', envFile, '--json'])).out);
    expect(data.schedules.damaged).toEqual([expect.stringContaining('"monthly" cannot be read')]);
  });

  it('says that the agent does not run, and ends with 1', async () => {
    const { envFile } = createAgent(9);
    const { code, out } = await run(['status', '--env-file', envFile]);
    expect([code, out]).toEqual([1, expect.stringContaining('does not run: agent_unreachable')]);
    expect(out).toContain('jobs      none');
  });

  it('prints its failure as an envelope with --json', async () => {
    const argv = ['status', '--json', '--env-file', '/nowhere/agent.env'];
    const { code, out, err } = await run(argv);
    expect([code, JSON.parse(out)]).toEqual([
      1,
      { ok: false, error: { code: 'invalid_configuration', message: expect.any(String) } },
    ]);
    expect(err).toContain('invalid_configuration');
  });
});

describe('doctor', () => {
  it('checks everything without a running agent, says what to do, and prints no secret', async () => {
    const key = `DISBURSE_TRANSFER_TOKEN=pool_live_${secret}${'a'.repeat(43)}`;
    const { envFile } = createAgent(9, key);
    const { code, out } = await run(['doctor', '--json', '--env-file', envFile]);
    const { ok, data } = JSON.parse(out) as {
      ok: boolean;
      data: { isHealthy: boolean; checks: readonly Diagnosis[] };
    };
    expect([code, ok, data.isHealthy]).toEqual([1, true, false]);
    const levels = Object.fromEntries(data.checks.map(({ name, level }) => [name, level]));
    expect(levels).toMatchObject({
      permissions: 'ok',
      stores: 'ok',
      artifacts: 'ok',
      // A mock makes no proofs.
      prover: 'problem',
      platform: 'problem',
      chains: 'problem',
      'chain.anvil': 'problem',
      agent: 'warning',
    });
    expect(Object.keys(levels)).toEqual(expect.arrayContaining(['disk', 'signer', 'poolGate']));
    expect(data.checks.find(({ name }) => name === 'platform')?.advice).toContain('PLATFORM_URL');
    expect(out).not.toContain(secret);
    expect(out).not.toContain(loopbackToken);
  });

  it('reports the problems of a configuration, and checks nothing with it', async () => {
    const { envFile } = createAgent('not-a-port');
    const { code, out } = await run(['doctor', '--env-file', envFile]);
    expect(code).toBe(1);
    expect(out).toMatch(/^problem {2}configuration: DISBURSE_PORT/m);
    expect(out).not.toContain('platform:');
  });

  it('names another program on the port as a problem', async () => {
    const server = createServer((_request, response) => response.end('hello'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { envFile } = createAgent((server.address() as AddressInfo).port);
    const { out } = await run(
      ['doctor', '--env-file', envFile],
      (color, text) => `<${color}>${text}`,
    );
    expect(out).toMatch(/^<red>problem {2}agent: agent_not_proven: /m);
  });

  it('warns of an agent of another version', async () => {
    const { envFile } = createAgent(await serveAgent());
    const { out } = await run(['doctor', '--env-file', envFile]);
    expect(out).toMatch(/^warning {2}agent: version .*\n +restart the agent$/m);
  });

  it('warns of files that other users can read', () => {
    const { home, envFile } = createAgent(9);
    expect(checkPermissions(home, envFile)).toMatchObject({ level: 'ok' });
    chmodSync(join(home, 'loopback.token'), 0o644);
    expect(checkPermissions(home, envFile)).toMatchObject({
      level: 'warning',
      advice: `run: chmod go-rwx ${join(home, 'loopback.token')}`,
    });
    expect(checkPermissions(home, envFile, 'win32')).toMatchObject({ level: 'ok' });
  });

  it.each([
    [10, 'problem'],
    [500, 'warning'],
    [5_000, 'ok'],
  ])('judges %i MiB of free space as %s', (mebibytes, level) => {
    expect(checkDisk('/home', mebibytes * 1024 * 1024)).toMatchObject({ level });
  });

  it.each([
    [60, 'problem'],
    [10, 'ok'],
    [-200, 'ok'],
    [-400, 'warning'],
  ])('judges a block that is %i s ahead of the clock as %s', (ahead, level) => {
    expect(checkClock('anvil', 1_000_000 + ahead, 1_000_000_000)).toMatchObject({ level });
  });
});

describe('completion', () => {
  /** What bash offers after the words. */
  async function complete(...words: readonly string[]): Promise<readonly string[]> {
    const { out } = await run(['completion', 'bash']);
    const line = ['disburse-agent', ...words];
    const script = `disburse-agent() { echo "of-$2"; }; ${out}
COMP_WORDS=(${line.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${line.length - 1}
_disburse_agent; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\n').filter(Boolean);
  }

  it.each<[readonly string[], readonly string[]]>([
    [['doc'], ['doctor']],
    [['pay-runs', 'sh'], ['show']],
    [['pay-run', 'sh'], ['show']],
    [['--no-color', 'pay-runs', 'show', 'x', '--j'], ['--json']],
    [
      ['disburse', '--unregistered', ''],
      ['fail', 'skip', 'invite'],
    ],
    [['nonsense'], []],
  ])('offers in bash after %j: %j', async (words, expected) => {
    const found = await complete(...words);
    expect(found).toEqual(expected);
  });

  it('offers labels and schedules from the files of this machine, and nothing when they cannot be read', async () => {
    const { home, envFile } = createAgent(9);
    vi.stubEnv('AGENT_ENV', envFile);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await run(['completion', 'labels'])).toEqual({ code: 0, out: '', err: '' });
    const ledger = openPayRunLedger(join(home, 'pay-runs.sqlite'));
    for (const payRun of ['may', 'two words']) {
      const name = { chain: 'anvil', token: 'USDC', payRun };
      const parts = [{ attempt: 1, sent: 'accepted', sinceMs: 1 }] as const;
      await ledger.change(name, () => ({ digest: 'd', parts: [...parts] }));
    }
    await ledger.close();
    const store = await openJobStore({ url: `sqlite:${join(home, 'jobs.sqlite')}` });
    const row = { scope: ':schedules', fingerprint: 'f', payload: '{', nowMs: 1 };
    await store.claim({ ...row, key: 'monthly', state: 'active' });
    await store.close();
    expect(await run(['completion', 'labels'])).toEqual({ code: 0, out: 'may', err: '' });
    expect(await run(['completion', 'schedules'])).toEqual({ code: 0, out: 'monthly', err: '' });
    writeFileSync(envFile, 'DISBURSE_PORT=canary');
    expect(await run(['completion', 'labels'])).toEqual({ code: 0, out: '', err: '' });
  });

  it.each([
    [['pay-runs', 'show', ''], 'of-labels'],
    [['cancel', 'of-l'], 'of-labels'],
    [['schedule', 'skip', ''], 'of-schedules'],
    [['pay-runs', 'show', '--j'], '--json'],
  ] as const)('asks the program for the names after %j', async (words, expected) => {
    expect(await complete(...words)).toEqual([expected]);
    expect(await complete('schedule', 'add', '')).not.toContain('of-schedules');
  });

  it.each(['zsh', 'fish'])('prints a script for %s with every command', async (shell) => {
    const { code, out } = await run(['completion', shell]);
    expect([code, out]).toEqual([0, expect.stringMatching(/disburse-agent/)]);
    expect(out).toContain('/pay-runs/show');
  });

  it('refuses another shell', async () => {
    expect(await run(['completion', 'csh'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('fish'),
    });
  });
});
