// The command as a payroll clerk uses it, over real processes: recipients that are not ready, the total of a payment,
// what prevents it, skipped recipients, and the spellings of a label (docs/decisions/0008).
import { spawn } from 'node:child_process';
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '@pool/core';
import { readData } from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openJobStore } from '../../../packages/idempotency/src/open-job-store.ts';
import { planOccurrence } from '../../../packages/pay-run/src/schedule/definition.ts';
import { createScheduleStore } from '../../../packages/pay-run/src/schedule/schedule-store.ts';
import {
  describeTarget,
  startReceiver,
  verifyEvent,
  writeTargets,
} from '../../../packages/webhooks/src/fixtures/webhook-world.ts';
import { deriveHolder, enrolHolder, openSession } from './chain/people.ts';
import { deriveHolderKey } from './chain/sandbox-keys.ts';
import { countFundedBatches, fetchPoolBalance } from './demo/chain-facts.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { agentScript } from './processes/agent-process.ts';

const stranger = '0x000000000000000000000000000000000000dEaD';

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

describe('disburse-agent for payroll staff', () => {
  let stack: TestStack;
  let roster: string;
  beforeAll(async () => {
    stack = await startTestStack({ holderCount: 3 });
    roster = writeRoster('roster.csv', ['1500000', '2000001', '9000000']);
  });
  afterAll(async () => {
    await stack.end();
  });

  /** Two holders and, in the third line of amounts, a person who is not enrolled. */
  function writeRoster(name: string, amounts: readonly string[]): string {
    const path = join(stack.directory, name);
    const people = [stack.holders[0]!.address, stack.holders[1]!.address, stranger];
    const lines = amounts.map((amount, index) => `${people[index]},${amount}`);
    writeFileSync(path, `address,amount\n${lines.join('\n')}\n`);
    return path;
  }

  function run(...args: readonly string[]): Promise<Ended> {
    return runWith({}, args);
  }

  function runWith(
    environment: Readonly<Record<string, string>>,
    args: readonly string[],
  ): Promise<Ended> {
    return new Promise((resolve, reject) => {
      const flags = ['--conditions=@pool/source', '--disable-warning=ExperimentalWarning'];
      const child = spawn(process.execPath, [...flags, agentScript, ...args], {
        env: {
          ...{ ...process.env, ...stack.agent.environment, ...environment },
          ONBOARD_PRIVATE_KEY: stack.employer.privateKey,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let stdout = '';
      let stderr = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text;
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text;
      });
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, stdout, stderr }));
    });
  }

  const disburse = (label: string, ...options: readonly string[]): Promise<Ended> =>
    run('disburse', '--file', roster, '--pay-run', label, ...options);

  it('lists before payday the recipients that are not ready, as text, JSON and CSV [command.recipients-check]', async () => {
    const table = join(stack.directory, 'not-ready.csv');
    const checked = await run('recipients', 'check', '--file', roster, '--csv', table);
    expect(checked).toMatchObject({ code: 5, stderr: '' });
    expect(checked.stdout).toContain('1 of 3 recipient(s) cannot be paid now');
    expect(checked.stdout).toContain(`line 4: ${stranger}: not_enrolled: `);
    const rows = readFileSync(table, 'utf8').trim().split('\r\n');
    expect(rows).toHaveLength(4);
    expect(rows[1]).toMatch(new RegExp(`^2,${stack.holders[0]!.address},yes,ready,,20`));
    expect(rows[3]).toMatch(new RegExp(`^4,${stranger},no,not_enrolled,`));
    expect(statSync(table).mode & 0o777).toBe(0o600);

    const over = await run('recipients', 'check', '--file', roster, '--csv', roster);
    expect(over).toMatchObject({ code: 2, stdout: '' });
    expect(readFileSync(roster, 'utf8')).toContain('address,amount');
    const two = writeRoster('two.csv', ['1', '']);
    const document = await run('recipients', 'check', '--file', two, '--json');
    expect(document.code).toBe(0);
    expect(readData(document.stdout)).toMatchObject({
      total: 2,
      ready: 2,
      recipients: [{ line: 2, readiness: 'ready', signedInAt: expect.stringMatching(/^20/) }, {}],
    });
    expect(await countFundedBatches(stack.place)).toBe(0);
  });

  it('reports total and skipped recipients in a dry run', async () => {
    const dry = await disburse('may', '--unregistered', 'skip', '--dry-run');
    expect(dry).toMatchObject({ code: 5, stderr: '' });
    expect(dry.stdout).toContain('2 recipient(s), 3.500001 USDC in total');
    expect(dry.stdout).toContain(`largest: 2.000001 USDC to ${stack.holders[1]!.address} (line 3)`);
    expect(dry.stdout).toContain(`skipped line 4: ${stranger}: the recipient has not signed in`);
    const json = await disburse('may', '--unregistered', 'skip', '--dry-run', '--json');
    expect(readData(json.stdout)).toMatchObject({
      ok: true,
      payment: { recipients: 2, total: '3500001', inTokenUnits: { total: '3.500001' } },
      skipped: [{ line: 4, recipientAddress: stranger, code: 'unregistered-recipient' }],
    });
  });

  it('sends nothing while the funder has too few tokens, and exits with 6 [command.disburse-asks-first]', async () => {
    const large = writeRoster('large.csv', [(2n ** 120n).toString()]);
    for (const mode of [[], ['--split'], ['--dry-run']]) {
      const stopped = await run('disburse', '--file', large, '--pay-run', 'large', ...mode);
      expect(stopped.code, mode.join()).toBe(6);
      expect(stopped.stdout + stopped.stderr).toContain('insufficient_balance');
    }
    expect(await countFundedBatches(stack.place)).toBe(0);
  });

  it('names skipped recipients by line, before and after the run, and exits with 5 [command.disburse-skipped]', async () => {
    const paid = await disburse('may', '--unregistered', 'skip');
    expect(paid.code).toBe(5);
    expect(paid.stderr).toContain('2 recipient(s), 3.500001 USDC in total');
    expect(paid.stderr).toContain(`skipped line 4: ${stranger}`);
    expect(paid.stdout).toContain(`skipped line 4: ${stranger}: the recipient has not signed in`);
    expect(await fetchPoolBalance(stack.place, 'USDC')).toBe(3_500_001n);
  });

  it('recognises the payment under every spelling of its label', async () => {
    for (const label of ['MAY', ' may ', 'ｍａｙ', 'm\u00e1y']) {
      const again = await disburse(label, '--unregistered', 'skip');
      expect(again.code, label).toBe(5);
      expect(again.stdout).toContain('this run sent nothing');
      expect(again.stderr, label).toBe('');
    }
    expect(await countFundedBatches(stack.place)).toBe(1);
  });

  it('warns of the same roster under another label, and asks no question in a script', async () => {
    const dry = await disburse('june', '--unregistered', 'skip', '--dry-run');
    expect(dry.stdout).toContain('the same roster was sent under the label may at 20');
    const paid = await disburse('june', '--unregistered', 'skip');
    expect(paid.code).toBe(5);
    expect(paid.stderr).toContain('the same roster was sent under the label may at 20');
    expect(await countFundedBatches(stack.place)).toBe(2);
  });

  it('holds an invited person back, and pays the person once after the enrolment', async () => {
    const links = join(stack.directory, 'links.csv');
    const invited = await run('invite', '--email', 'ada@example.org', '--out', links);
    expect(invited.code, invited.stderr).toBe(0);
    const code = /#invite=([^,]+)/.exec(readFileSync(links, 'utf8'))?.[1] ?? '';
    const other = join(stack.directory, 'other-links.csv');
    expect((await run('invite', '--email', 'bob@example.org', '--out', other)).code).toBe(0);
    roster = join(stack.directory, 'invited.csv');
    writeFileSync(
      roster,
      `address,amount\n${stack.holders[0]!.address},1000000\ninvite:ada@example.org,2000000\ninvite:bob@example.org,3000000\n`,
    );
    const pay = () => disburse('november', '--unregistered', 'invite', '--until', '2999-12-31');
    const resume = (...more: string[]) => run('pay-run', 'resume', 'november', ...more);
    const batches = await countFundedBatches(stack.place);
    const held = await pay();
    expect(held.code, held.stderr).toBe(5);
    expect(held.stdout).toContain('1 of 1 parts paid, 1 of 1 recipients, 1 of 1 USDC');
    expect(held.stdout).toContain('held back line 3: ada@example.org: 2 USDC: created');
    expect((await resume()).code).toBe(5);
    const drop = () => run('pay-runs', 'drop', 'november', '--line', 'bob@example.org');
    expect((await drop()).stdout).toContain('line 4: bob@example.org: 3 USDC: dropped, and never');
    expect((await drop()).stdout).toContain('was dropped before');

    const key = deriveHolderKey(60);
    const place = { platformUrl: stack.platformUrl };
    const holder = await deriveHolder(key, place);
    const session = await openSession(key, place, holder.encryptionPublicKey);
    await session.acceptInvitation(new Secret(code));
    await enrolHolder(session, holder);
    const again = await pay();
    expect(again.stdout).toContain('eligible: nobody has confirmed the wallet');
    expect(await countFundedBatches(stack.place)).toBe(batches + 1);
    const unasked = await resume();
    expect(unasked).toMatchObject({
      code: 5,
      stdout: expect.stringContaining('nobody has confirmed'),
    });
    const dry = await resume('--dry-run', '--accept-wallets');
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining('2 USDC in total') });
    expect(dry.stdout).toContain(`ada@example.org: 2 USDC to ${holder.address}: ready`);
    expect(await countFundedBatches(stack.place)).toBe(batches + 1);
    const paid = await resume('--accept-wallets');
    expect(paid.code, paid.stderr).toBe(0);
    expect(paid.stderr).toContain(`ada@example.org: 2 USDC to ${holder.address}`);
    expect(paid.stdout).toContain('nobody is held back');
    const repeated = await resume();
    expect(repeated).toMatchObject({ code: 0, stdout: expect.stringContaining('sent nothing') });
    expect(await countFundedBatches(stack.place)).toBe(batches + 2);
    const table = join(stack.directory, 'november.csv');
    expect((await run('pay-runs', 'export', 'november', '--out', table)).code).toBe(0);
    const rows = readFileSync(table, 'utf8').trim().split('\r\n');
    expect(rows).toHaveLength(4);
    const settled =
      'paid,,,0x[0-9a-f]{64},november,november#2-[0-9a-f]{32},[a-z]+,0x[0-9a-f]{64},20[0-9T:-]+Z$';
    expect(rows[2]).toMatch(
      new RegExp(`^november#2/1\\.1,ada@example.org,${holder.address},2,2000000,USDC,${settled}`),
    );
    expect(rows[3]).toMatch(
      /^,bob@example.org,,3,3000000,USDC,dropped,,,,november,,[a-z]+,,20[0-9T:-]+Z$/,
    );
    const jobs = await run('jobs', 'list', '--pay-run', 'november', '--state', 'paid');
    expect(jobs.stdout.trim().split('\n')).toHaveLength(2);
    expect(stack.readLogs()).not.toContain('ada@example.org');
  });

  /** Events that a receiver on this machine took, with a signature that the library of the format accepts. */
  async function receiveWebhooks() {
    const told: { readonly type: string; readonly data: object }[] = [];
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    const target = describeTarget(receiver);
    receiver.answer = (request) => {
      try {
        told.push(verifyEvent(target.secrets[0], request) as (typeof told)[number]);
        return { status: 200 };
      } catch {
        return { status: 401 };
      }
    };
    return { told, place: writeTargets(stack.directory, [target]) };
  }

  it('pays a scheduled occurrence once after its release, skips one that nobody releases, and tells a receiver', async () => {
    const policy = join(stack.directory, 'release-policy.json');
    const keyFile = join(stack.directory, 'ben.pem');
    const made = await run('release', 'new-key', keyFile);
    const publicKey = /publicKey: (0x[0-9a-f]{64})/.exec(made.stdout)?.[1];
    const people = [
      { name: 'Ada', prepares: ['loopback'] },
      { name: 'Ben', publicKey },
    ];
    const rule = { chain: stack.chain, token: 'USDC', from: '0', required: 1, people: ['Ben'] };
    const content = { version: 1, name: 'payroll', waitHours: 72, people, rules: [rule] };
    writeFileSync(policy, JSON.stringify(content));
    const { told, place } = await receiveWebhooks();
    const withPolicy = {
      DISBURSE_RELEASE_POLICY: policy,
      DISBURSE_WEBHOOKS_FILE: place.path,
      DISBURSE_WEBHOOKS_LOOPBACK: 'allow',
    };
    await stack.agent.process.stop();
    await stack.agent.restart(withPolicy);
    const command = (...args: readonly string[]): Promise<Ended> => runWith(withPolicy, args);
    for (const period of ['first', 'second']) {
      const path = join(stack.directory, `salaries-${period}.csv`);
      writeFileSync(path, `address,amount\n${stack.holders[0]!.address},1.25\n`);
      // A file that was changed a moment ago is not read yet.
      utimesSync(path, 1, 1);
    }
    const template = join(stack.directory, 'salaries-{period}.csv');
    const added = await command(
      ...['schedule', 'add', 'monthly', '--roster', template, '--label', 'salaries-{period}'],
      ...['--when', 'last day', '--time', '09:00', '--zone', 'UTC', '--decimal'],
    );
    expect(added.code, added.stderr).toBe(0);

    // Occurrences as the agent notices them, with times that need no waiting.
    const jobs = await openJobStore({ url: `sqlite:${join(stack.agent.home, 'jobs.sqlite')}` });
    const schedules = createScheduleStore(jobs, Date.now);
    const { definition } = await schedules.read('monthly');
    const notice = async (period: string, releaseByMs: number): Promise<void> => {
      const nowMs = Date.now();
      const plan = planOccurrence(definition, { period, date: '2027-03-31', payAtMs: nowMs });
      const payByMs = nowMs + 3_600_000;
      await schedules.notice({ ...plan, prepareAtMs: nowMs, releaseByMs, payByMs });
    };
    const stateOf = async (period: string) =>
      (await schedules.findOccurrence('monthly', period))?.state;
    try {
      const batches = await countFundedBatches(stack.place);
      await notice('first', Date.now() + 1_800_000);
      const waiting = { timeout: 300_000, interval: 500 };
      await expect
        .poll(async () => (await command('release', 'list')).stdout, waiting)
        .toContain('salaries-first');
      expect(await stateOf('first')).toBe('prepared');
      expect(await countFundedBatches(stack.place)).toBe(batches);
      const signed = await command('release', 'sign', 'salaries-first', '--key-file', keyFile);
      expect(signed.code, signed.stderr).toBe(0);
      await notice('second', Date.now() + 15_000);
      await expect.poll(() => stateOf('first'), waiting).toBe('paid');
      await expect.poll(() => stateOf('second'), waiting).toBe('skipped');
      expect(await countFundedBatches(stack.place)).toBe(batches + 1);
      const shown = await command('schedule', 'show', 'monthly');
      expect(shown.stdout).toMatch(/first {2}paid/);
      expect(shown.stdout).toMatch(/second {2}skipped .*deadline/);
      const ofOne = [
        ...['job.accepted', 'job.completed', 'release.released', 'release.waiting'],
        ...['schedule.paid', 'schedule.prepared', 'schedule.skipped'],
      ];
      await expect
        .poll(() => [...new Set(told.map(({ type }) => type))].toSorted(), waiting)
        .toEqual(expect.arrayContaining(ofOne));
      expect(told.find(({ type }) => type === 'job.completed')?.data).toMatchObject({
        label: 'salaries-first',
        state: 'done',
      });
      expect(JSON.stringify(told)).not.toMatch(/0x[0-9a-f]{40}|1250000/i);
      const deliveries = async () => (await command('webhooks', 'deliveries', 'books')).stdout;
      await expect
        .poll(deliveries, waiting)
        .toMatch(/job\.completed {2}delivered \(\d+ attempts?, last: HTTP 200/);
    } finally {
      await jobs.close();
    }
  });
});
