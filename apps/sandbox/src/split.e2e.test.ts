// A roster above the ceiling, paid in parts by the command itself, which is killed with SIGKILL in between: every
// recipient is paid exactly once, and an edited roster under the same label is not paid.

import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatTokenUnits } from '@pool/core';
import { readData, signalAt } from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countFundedBatches, fetchPoolBalance } from './demo/chain-facts.ts';
import { readAllReceivedNotes } from './demo/received-notes.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { agentScript } from './processes/agent-process.ts';

const amounts = [1_000_001n, 2_000_002n, 3n, 4_000_000n, 50n];
const total = amounts.reduce((sum, amount) => sum + amount, 0n);

type Ended = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

describe('disburse --split', () => {
  let stack: TestStack;
  let roster: string;
  beforeAll(async () => {
    stack = await startTestStack({ maxRecipients: 2, holderCount: 5, provesWhole: true });
    roster = writeRoster('roster.csv', amounts);
  });
  afterAll(async () => {
    await stack.end();
  });

  function writeRoster(name: string, paid: readonly bigint[]): string {
    const path = join(stack.directory, name);
    const lines = paid.map((amount, index) => `${stack.holders[index]!.address},${amount}`);
    writeFileSync(path, `address,amount\n${lines.join('\n')}\n`);
    return path;
  }

  /** @param killAt - text on standard error at which the command gets the signal */
  function disburse(
    file: string,
    options: readonly string[] = [],
    killAt?: string,
    killWith: NodeJS.Signals = 'SIGKILL',
  ): Promise<Ended> {
    return new Promise((resolve, reject) => {
      const flags = ['--conditions=@pool/source', '--disable-warning=ExperimentalWarning'];
      if (killAt !== undefined) flags.push(...signalAt(killAt, killWith));
      const label = options.includes('--pay-run') ? [] : ['--pay-run', '2026-11'];
      const command = ['disburse', '--file', file, ...label, ...options];
      const child = spawn(process.execPath, [...flags, agentScript, ...command], {
        env: { ...process.env, ...stack.agent.environment },
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
      child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
    });
  }

  it('shows the parts in a dry run, and submits nothing', async () => {
    const dry = await disburse(roster, ['--split', '--dry-run', '--json']);
    expect(dry).toMatchObject({ code: 0, stderr: '' });
    const report = readData(dry.stdout) as {
      readonly parts: readonly { readonly recipients: readonly { recipientAddress: string }[] }[];
    };
    expect(report.parts.map(({ recipients }) => recipients.length)).toEqual([2, 2, 1]);
    const people = report.parts.flatMap((part) =>
      part.recipients.map((one) => one.recipientAddress),
    );
    expect(new Set(people)).toEqual(new Set(stack.holders.map(({ address }) => address)));
    expect((await disburse(roster)).stderr).toContain('batch-too-large');
    expect(await countFundedBatches(stack.place)).toBe(0);
  });

  it('pays every recipient once, although it is killed between the parts and during one', async () => {
    const first = await disburse(roster, ['--split'], 'part 1 of 3: submitted');
    expect(first).toMatchObject({ code: null, signal: 'SIGKILL', stdout: '' });
    // The agent pays what it has accepted. Nobody sends the next part.
    await expect.poll(() => countFundedBatches(stack.place)).toBe(1);
    const second = await disburse(roster, ['--split'], 'part 3 of 3: submitted');
    expect(second).toMatchObject({ code: null, signal: 'SIGKILL', stdout: '' });
    expect(second.stderr).not.toContain('part 1 of 3: submitted');

    const last = await disburse(roster, ['--split', '--json']);
    expect(last.code).toBe(0);
    expect(readData(last.stdout)).toMatchObject({
      payRun: '2026-11',
      complete: true,
      recipients: { total: 5, paid: 5, skipped: 0 },
      amount: { total: total.toString(), paid: total.toString() },
      parts: [1, 2, 3].map((part) => ({ part, of: 3, attempt: 1, state: 'paid' })),
    });
    expect(await fetchPoolBalance(stack.place, 'USDC')).toBe(total);
    expect(await countFundedBatches(stack.place)).toBe(3);
    const notes = await readAllReceivedNotes(stack.place, stack.holders, 'USDC');
    expect(notes.map((received) => received.map(({ amount }) => amount))).toEqual(
      amounts.map((amount) => [amount]),
    );
  });

  it('shows the same summary when repeated, and refuses an edited roster under the label', async () => {
    const edited = writeRoster('edited.csv', [...amounts.slice(0, 4), 51n]);
    // Fewer people, few enough for one call.
    const shorter = writeRoster('shorter.csv', amounts.slice(0, 2));
    const [again, ...refused] = await Promise.all([
      disburse(roster, ['--split']),
      disburse(edited, ['--split']),
      disburse(edited, ['--split', '--dry-run']),
      disburse(shorter),
    ]);
    expect(again.code).toBe(0);
    expect(again.stdout).toContain(
      `3 of 3 parts paid, 5 of 5 recipients, ${formatTokenUnits(BigInt(total), 6)} of ${formatTokenUnits(BigInt(total), 6)} USDC`,
    );
    for (const { code, stderr } of refused) {
      expect(stderr).toContain('pay_run_conflict');
      expect(code).toBe(2);
    }
    expect(await countFundedBatches(stack.place)).toBe(3);
    expect(await fetchPoolBalance(stack.place, 'USDC')).toBe(total);
  });

  it('ends with a summary when it is interrupted, and the agent continues', async () => {
    const next = ['--split', '--json', '--pay-run', '2026-12'];
    // The next part waits for the block of the first one.
    const { code, stdout } = await stack.withoutBlocks(() =>
      disburse(roster, next, 'part 1 of 3: submitted', 'SIGINT'),
    );
    expect(code).toBe(130);
    expect(readData(stdout)).toMatchObject({
      complete: false,
      parts: [{ state: 'running' }, { state: 'not-submitted' }, { state: 'not-submitted' }],
      stopped: { code: 'interrupted' },
    });
  });
});
