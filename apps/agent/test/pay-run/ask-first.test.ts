// What prevents a payment before it is sent, and what does not (README.md, "The command"; docs/decisions/0008).
import { PoolError } from '@pool/core';
import { exitCodes } from '@pool/pay-run';
import { describe, expect, it } from 'vitest';
import {
  describeSplitDryRun,
  dryRunSplit,
} from '../../../../packages/pay-run/src/commands/dry-run.ts';
import { exitCodeOfSplit } from '../../../../packages/pay-run/src/report/split-report.ts';
import { createTestPayRun, type TestPayRun } from './test-pay-run.ts';

function declined(): never {
  throw new PoolError('payment_declined', 'no');
}

describe('a roster that is paid whole', () => {
  const create = (): TestPayRun => createTestPayRun({ people: 2 });

  it('is not sent while the funder has too little, and leaves its label free', async () => {
    const test = create();
    test.chain.balance = 1n;
    await expect(test.whole()).rejects.toMatchObject({
      code: 'payment_blocked',
      message: expect.stringContaining('insufficient_balance: the funder holds 0.000001 USDC'),
      problems: [{ code: 'insufficient_balance' }],
    });
    expect(test.state.submitted).toEqual([]);
    const name = { chain: 'anvil', token: 'USDC', payRun: '2026-11' };
    expect(await test.ledger().read(name)).toBeUndefined();
    test.chain.balance = 10n ** 9n;
    expect(await test.whole()).toMatchObject({ state: 'accepted' });
  });

  it.each(['relayer_unavailable', 'gate_unreachable', 'insufficient_gas'] as const)(
    'is not sent under %s',
    async (code) => {
      const test = create();
      test.outages.push({ code, message: 'why' });
      await expect(test.whole()).rejects.toMatchObject({ code: 'payment_blocked' });
      expect(test.state.submitted).toEqual([]);
    },
  );

  it.each(['chain_unreachable', 'platform_unreachable'] as const)(
    'is sent with a warning if a read failed: %s',
    async (code) => {
      const test = create();
      test.outages.push({ code, message: 'why' });
      await test.whole();
      expect(test.state.submitted).toHaveLength(1);
      expect(test.state.lines).toContain(`warning: ${code}: why`);
    },
  );

  it('shows what was sent before and asks nothing, even if something would prevent it now', async () => {
    const test = create();
    const first = await test.whole();
    test.chain.balance = 0n;
    test.outages.push({ code: 'gate_unreachable', message: 'why' });
    test.state.approve = declined;
    expect(await test.whole()).toMatchObject({ key: first.key, state: 'done' });
  });

  it('is not sent, and leaves its label free, unless it is confirmed', async () => {
    const test = create();
    test.state.approve = declined;
    await expect(test.whole()).rejects.toMatchObject({ code: 'payment_declined' });
    const name = { chain: 'anvil', token: 'USDC', payRun: '2026-11' };
    expect(await test.ledger().read(name)).toBeUndefined();
    expect(test.state.submitted).toEqual([]);
  });
});

describe('a roster that is paid in parts', () => {
  it('is not sent while something prevents it, and ends with exit code 6', async () => {
    const test = createTestPayRun();
    test.chain.balance = 1n;
    const outcome = await test.split();
    expect(outcome.stop).toMatchObject({ code: 'insufficient_balance' });
    expect(exitCodeOfSplit(outcome)).toBe(exitCodes.notNow);
    expect(test.state.submitted).toEqual([]);
  });

  it('is sent with a warning if a read of the chain failed', async () => {
    const test = createTestPayRun();
    test.outages.push({ code: 'chain_unreachable', message: 'why' });
    const outcome = await test.split();
    expect(exitCodeOfSplit(outcome)).toBe(exitCodes.ok);
    expect(test.state.lines).toContain('warning: chain_unreachable: why');
  });

  it('is confirmed once, for what this run sends', async () => {
    const test = createTestPayRun();
    const asked: number[] = [];
    test.state.approve = ({ entries, parts }) => void asked.push(entries.length, parts);
    test.state.verdict = (job) => (job === 2 ? 'failed' : 'completed');
    await test.split();
    await test.split({ retry: [2] });
    await test.split();
    expect(asked).toEqual([5, 3, 3, 2]);
    test.state.approve = declined;
    await expect(test.split({ payRun: 'other' })).rejects.toMatchObject({
      code: 'payment_declined',
    });
  });
});

describe('a recipient who is not enrolled, under --unregistered skip', () => {
  const stranger = {
    recipientAddress: '0xffffFFFfFFffffffffffffffFfFFFfffFFFfFFfE',
    amount: '9',
    line: 7,
  };

  it('is named with line and reason before anything is sent', async () => {
    const test = createTestPayRun({ people: 1 });
    const seen: unknown[] = [];
    test.state.approve = ({ skipped }) => void seen.push(skipped);
    const entries = [...test.entries, stranger];
    await test.whole({ entries, unregistered: 'skip' });
    await test.split({ payRun: 'parts', entries, unregistered: 'skip' });
    const skipped = [
      {
        line: 7,
        recipientAddress: stranger.recipientAddress,
        code: 'unregistered-recipient',
        message: 'the recipient has not signed in and enrolled',
      },
    ];
    expect(seen).toEqual([skipped, skipped]);
  });

  it('makes a run that paid everybody else end with exit code 5', async () => {
    const test = createTestPayRun({ people: 3 });
    const outcome = await test.split({
      entries: [...test.entries, stranger],
      unregistered: 'skip',
    });
    expect(exitCodeOfSplit(outcome)).toBe(exitCodes.someUnpaid);
    expect(exitCodes.someUnpaid).toBe(5);
  });
});

it.each(['whole', 'split', 'dry run'] as const)(
  'warns of a changed key once per payee and prevents nothing, %s',
  async (how) => {
    const test = createTestPayRun({ people: how === 'whole' ? 2 : 5 });
    const message = 'recipients[0]: the encryption key changed';
    test.outages.push({ code: 'recipient_key_rotated', message, severity: 'warning' });
    let lines: readonly string[] = test.state.lines;
    if (how === 'whole') {
      await test.whole();
    } else if (how === 'split') {
      await test.split();
    } else {
      lines = describeSplitDryRun(
        await dryRunSplit(
          { chain: 'anvil', token: 'USDC', payRun: '2026-11', entries: test.entries, retry: [] },
          {
            record: undefined,
            findForeignUse: async () => undefined,
            readCeiling: () => test.state.ceiling,
            validate: (request) => test.plain.validate(request),
          },
        ),
        { symbol: 'USDC', decimals: 6 },
      );
    }
    const told = lines.filter((line) => line.includes('the encryption key changed'));
    const addresses = told.map((line) => /0x[0-9a-fA-F]{40}/.exec(line)?.[0]);
    // The first payee of each part.
    expect(new Set(addresses).size).toBe(how === 'whole' ? 1 : 3);
    expect(told).toHaveLength(how === 'whole' ? 1 : 3);
    const known = test.entries.map(({ recipientAddress }) => recipientAddress);
    expect(known).toEqual(expect.arrayContaining(addresses));
    expect(told.every((line) => line.startsWith('warning: '))).toBe(true);
    expect(test.state.submitted).toHaveLength({ whole: 1, split: 3, 'dry run': 0 }[how]);
  },
);
