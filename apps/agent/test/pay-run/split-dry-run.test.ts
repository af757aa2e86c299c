// The dry run of a pay run in parts, by the agent's own validation.
import { describe, expect, it } from 'vitest';
import {
  describeSplitDryRun,
  dryRunSplit,
} from '../../../../packages/pay-run/src/commands/dry-run.ts';
import { runCli } from '../../src/cli.ts';
import { createTestPayRun } from './test-pay-run.ts';

const name = { chain: 'anvil', token: 'USDC', payRun: '2026-11' };
const stranger = { recipientAddress: '0xffffFFFfFFffffffffffffffFfFFFfffFFFfFFfE', amount: '1' };

async function dryRun(
  test: ReturnType<typeof createTestPayRun>,
  entries: Parameters<typeof dryRunSplit>[0]['entries'] = test.entries,
  findForeignUse: Parameters<typeof dryRunSplit>[1]['findForeignUse'] = async () => undefined,
) {
  return await dryRunSplit(
    { ...name, entries, retry: [] },
    {
      record: await test.ledger().read(name),
      readCeiling: () => test.state.ceiling,
      validate: (request) => test.plain.validate(request),
      findForeignUse,
    },
  );
}

describe('dryRunSplit', () => {
  it('shows the parts, keys and people that are then paid, and submits nothing', async () => {
    const test = createTestPayRun();
    const report = await dryRun(test);
    expect(test.state.submitted).toEqual([]);
    const { parts } = await test.split();
    expect(report.ok).toBe(true);
    expect(report.parts.map(({ key, recipients }) => ({ key, recipients }))).toEqual(
      parts.map(({ key, entries }) => ({ key, recipients: entries })),
    );
    expect(report.parts.map(({ submitted }) => submitted)).toEqual([false, false, false]);
    expect(describeSplitDryRun(report, { symbol: 'USDC', decimals: 6 }).join('\n')).toContain(
      'part 3 of 3: 1 recipient(s)',
    );
  });

  it('reports every issue of every part with its address', async () => {
    const test = createTestPayRun({ people: 2 });
    const report = await dryRun(test, [...test.entries, stranger]);
    expect(report.ok).toBe(false);
    expect(describeSplitDryRun(report, { symbol: 'USDC', decimals: 6 }).join('\n')).toContain(
      `part 2: unregistered-recipient: the recipient has not signed in and enrolled (${stranger.recipientAddress})`,
    );
  });

  it('refuses a part whose key is paid, or may be, under other settings', async () => {
    const test = createTestPayRun();
    const { parts } = await dryRun(test);
    const use = { code: 'settled_elsewhere', message: 'paid; do not resubmit' };
    const report = await dryRun(test, undefined, async (key) =>
      key === parts[1]?.key ? use : undefined,
    );
    expect(report).toMatchObject({ ok: false, isPayable: false });
    expect(describeSplitDryRun(report, { symbol: 'USDC', decimals: 6 }).join('\n')).toContain(
      'part 2: settled_elsewhere: paid; do not resubmit',
    );
  });

  it('checks only what was not submitted yet', async () => {
    const test = createTestPayRun();
    await test.split();
    test.state.ceiling = 1;
    test.chain.balance = 0n;
    const report = await dryRun(test);
    expect(report).toMatchObject({ ok: true, issues: [] });
    expect(report.parts.map(({ submitted }) => submitted)).toEqual([true, true, true]);
  });
});

describe('disburse --retry', () => {
  const run = async (...options: readonly string[]) => {
    const errors: string[] = [];
    const code = await runCli(['disburse', '--file', 'r.csv', '--pay-run', 'p', ...options], {
      out: () => undefined,
      err: (text) => errors.push(text),
      terminal: { isTty: false, write: () => undefined },
    });
    return { code, error: errors.join('') };
  };

  it('accepts part numbers, and only with --split', async () => {
    const alone = await run('--retry', '2');
    expect(alone.code).toBe(2);
    expect(alone.error).toContain('--split');
    for (const text of ['0', '-1', 'two', '1.5']) {
      const refused = await run('--split', `--retry=${text}`);
      expect(refused.code).toBe(1);
      expect(refused.error).toContain('number of a part');
    }
  });
});
