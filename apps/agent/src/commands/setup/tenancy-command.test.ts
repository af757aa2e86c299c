// The commands of `disburse-agent tenancy`: their exit codes, output and changes.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openJobStore } from '@pool/idempotency';
import { pinFirstEmployer, readTenancyPin, tenancyPinPath } from '@pool/operations';
import { exitCodes } from '@pool/pay-run';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../cli.ts';
import {
  type StubPlatform,
  startStubPlatform,
  writeAgentFiles,
} from '../../fixtures/stub-platform.ts';

const own = '5b1d1f0e-6f55-4d3a-9d53-6f1f2c1a7e01';
const other = '00000000-0000-4000-8000-000000000000';

let home: string;
let platform: StubPlatform;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'tenancy-'));
  platform = await startStubPlatform(own);
});
afterEach(async () => {
  await platform.stop();
  rmSync(home, { recursive: true });
});

async function run(args: readonly string[], lines: readonly string[] = []) {
  const path = writeAgentFiles(home, platform.url, lines);
  let printed = '';
  const print = (text: string): void => {
    printed += `${text}\n`;
  };
  const code = await runCli([...args, '--env-file', path], {
    out: print,
    err: print,
    terminal: { isTty: false, write: print },
  });
  return { code, printed };
}

const outcomes = {
  paid: ['done', { kind: 'completed', result: { status: 'completed' }, settlement: {} }],
  reverted: ['done', { kind: 'reverted', result: { status: 'partial', batches: [] } }],
  elsewhere: ['failed', { kind: 'failed', error: { code: 'settled_elsewhere' } }],
  failed: ['failed', { kind: 'failed', error: { code: 'unregistered-recipient' } }],
  open: ['submitted', { kind: 'accepted' }],
} as const;

async function store(jobs: Readonly<Record<string, keyof typeof outcomes>>): Promise<void> {
  const jobStore = await openJobStore({ url: `sqlite:${join(home, 'jobs.sqlite')}` });
  for (const [key, outcome] of Object.entries(jobs)) {
    const [state, phase] = outcomes[outcome];
    const payload = JSON.stringify({ requestDigest: '0x00', phase });
    await jobStore.claim({ scope: own, key, fingerprint: 'f', state, payload, nowMs: 1_000 });
  }
  await jobStore.close();
}

describe('tenancy show', () => {
  it('reports that no employer is pinned before the first bootstrap, and pins none', async () => {
    const { code, printed } = await run(['tenancy', 'show']);
    expect(code).toBe(exitCodes.ok);
    expect(printed).toContain('no employer is pinned yet');
    expect(printed).toContain(`the platform: ${own}`);
    expect(existsSync(tenancyPinPath(home))).toBe(false);
    expect(existsSync(join(home, 'jobs.sqlite'))).toBe(false);
  });

  it('exits with 1 when the platform names another employer', async () => {
    pinFirstEmployer(home, own, 1_000);
    await store({ june: 'paid', july: 'open' });
    platform.employerId = other;
    const { code, printed } = await run(['tenancy', 'show']);
    expect(code).toBe(exitCodes.error);
    expect(printed).toContain(`employer: ${own}`);
    expect(printed).toContain(`the platform: ${other}`);
    expect(printed).toContain(`2 key(s) of employer ${own}, 1 paid, 1 underway`);
    expect(printed).toContain('employer_mismatch');
  });

  it('exits with 1 when DISBURSE_EMPLOYER_ID names another employer than the directory', async () => {
    pinFirstEmployer(home, own, 1_000);
    const { code, printed } = await run(['tenancy', 'show'], [`DISBURSE_EMPLOYER_ID=${other}`]);
    expect(code).toBe(exitCodes.error);
    expect(printed).toContain('DISBURSE_EMPLOYER_ID names another employer than this directory');
  });

  it('works without the platform', async () => {
    pinFirstEmployer(home, own, 1_000);
    platform.employerId = undefined;
    const { code, printed } = await run(['tenancy', 'show']);
    expect(code).toBe(exitCodes.ok);
    expect(printed).toContain('the platform: does not answer');
  });

  it('prints the id of the fingerprint key, so that two agents can be compared', async () => {
    const secret = `0x${'12'.repeat(32)}`;
    const { printed } = await run(['tenancy', 'show'], [`DISBURSE_FINGERPRINT_KEY=${secret}`]);
    expect(printed).toMatch(/fingerprint key: 0x[0-9a-f]{16}\n/);
    expect(printed).not.toContain('1212');
  });
});

it('tenancy keys prints every key and whether it was paid, as CSV', async () => {
  await store({
    june: 'paid',
    'a,"b"': 'open',
    july: 'failed',
    may: 'elsewhere',
    april: 'reverted',
  });
  const { code, printed } = await run(['tenancy', 'keys']);
  expect(code).toBe(exitCodes.ok);
  expect(printed.trim().split('\n')).toEqual([
    'employerId,key,state,paid,acceptedAt',
    `${own},june,done,yes,1970-01-01T00:00:01.000Z`,
    `${own},"a,""b""",submitted,open,1970-01-01T00:00:01.000Z`,
    `${own},july,failed,no,1970-01-01T00:00:01.000Z`,
    `${own},may,failed,yes,1970-01-01T00:00:01.000Z`,
    `${own},april,done,no,1970-01-01T00:00:01.000Z`,
  ]);
});

describe('tenancy new', () => {
  beforeEach(() => {
    pinFirstEmployer(home, own, 1_000);
    platform.employerId = other;
  });

  it('changes nothing without --accept, and lists the keys that could be paid again', async () => {
    await store({ june: 'paid', july: 'failed', may: 'elsewhere' });
    const { code, printed } = await run(['tenancy', 'new']);
    expect(code).toBe(exitCodes.refused);
    expect(printed).toContain('2 key(s)');
    expect(printed).toContain('june (paid)');
    expect(printed).toContain('may (paid)');
    expect(printed).not.toContain('july');
    expect(printed).toContain('disburse-agent tenancy keys');
    expect(printed).toContain('tenancy new --accept');
    expect(readTenancyPin(home)?.employerId).toBe(own);
  });

  it('begins the tenancy whose employerId is accepted', async () => {
    await store({ june: 'paid' });
    const { code, printed } = await run(['tenancy', 'new', '--accept', other.toUpperCase()]);
    expect(code).toBe(exitCodes.ok);
    expect(printed).toContain('june (paid)');
    expect(readTenancyPin(home)).toMatchObject({
      employerId: other,
      earlier: [{ employerId: own }],
    });
    expect((await run(['tenancy', 'show'])).code).toBe(exitCodes.ok);
  });

  it('refuses an id that the platform does not name, that is not a UUID, or that differs from the variable', async () => {
    for (const [accept, lines] of [
      [own.replace('5', '6'), []],
      ['june', []],
      [other, [`DISBURSE_EMPLOYER_ID=${own}`]],
    ] as const) {
      const { code, printed } = await run(['tenancy', 'new', '--accept', accept], lines);
      expect(code).toBe(exitCodes.refused);
      expect(printed).toContain('invalid_tenancy');
      expect(readTenancyPin(home)?.employerId).toBe(own);
    }
  });

  it('refuses while jobs are underway, unless --leave-open is given', async () => {
    await store({ june: 'open' });
    const refused = await run(['tenancy', 'new', '--accept', other]);
    expect(refused.code).toBe(exitCodes.refused);
    expect(refused.printed).toContain('1 job(s) of another employer are underway');
    expect(readTenancyPin(home)?.employerId).toBe(own);
    const left = await run(['tenancy', 'new', '--accept', other, '--leave-open']);
    expect(left.code).toBe(exitCodes.ok);
    expect(readTenancyPin(home)?.employerId).toBe(other);
  });
});

it('a dry run reports that the platform names another employer', async () => {
  pinFirstEmployer(home, own, 1_000);
  platform.employerId = other;
  const roster = join(home, 'roster.csv');
  writeFileSync(roster, 'address,amount\n0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed,5\n');
  const { code, printed } = await run([
    ...['disburse', '--dry-run', '--file', roster, '--pay-run', 'june'],
  ]);
  expect(code).toBe(exitCodes.notNow);
  expect(printed).toContain('employer_mismatch');
  expect(printed).not.toContain('platform_unreachable');
  // The payment needs an agent, and no agent runs in this test.
  expect(printed).toContain('note: no agent answers at http://127.0.0.1:');
});

it('config check names a DISBURSE_EMPLOYER_ID that is not the employer of the directory', async () => {
  pinFirstEmployer(home, own, 1_000);
  const same = await run(['config', 'check'], [`DISBURSE_EMPLOYER_ID=${own}`]);
  expect(same.code).toBe(exitCodes.ok);
  const { code, printed } = await run(['config', 'check'], [`DISBURSE_EMPLOYER_ID=${other}`]);
  expect(code).toBe(exitCodes.error);
  expect(printed).toContain('DISBURSE_EMPLOYER_ID names another employer');
  const wrong = await run(['config', 'check'], ['DISBURSE_EMPLOYER_ID=june']);
  expect(wrong.printed).toContain('DISBURSE_EMPLOYER_ID must be a UUID');
});
