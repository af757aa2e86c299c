// A roster in parts, over the agent's own routes (README.md, "Rosters above the ceiling").
import { describe, expect, it } from 'vitest';
import type { SplitOutcome } from '../../../../packages/pay-run/src/pay/split-pay-run.ts';
import { exitCodeOfSplit, stateOf } from '../../../../packages/pay-run/src/report/split-report.ts';
import { createTestPayRun, KilledError, type TestPayRun } from './test-pay-run.ts';

function statesOf({ parts }: SplitOutcome): readonly string[] {
  return parts.map(({ job }) => stateOf(job));
}

/** Everybody once, with the amount of the roster. */
function expectPaidOnce({ state, entries }: TestPayRun): void {
  const expected = entries.map(({ recipientAddress, amount }): [string, bigint[]] => [
    recipientAddress,
    [BigInt(amount)],
  ]);
  expect(state.paid).toEqual(new Map(expected));
}

describe('paySplit', () => {
  it('pays the parts one after the other, and reports each', async () => {
    const test = createTestPayRun();
    const outcome = await test.split();
    expect(outcome.parts.map(({ entries }) => entries.length)).toEqual([2, 2, 1]);
    expect(statesOf(outcome)).toEqual(['paid', 'paid', 'paid']);
    expect(exitCodeOfSplit(outcome)).toBe(0);
    expectPaidOnce(test);
    expect(test.state.lines).toEqual([
      'part 1 of 3: submitted, 2 recipient(s)',
      'part 1 of 3: paid',
      'part 2 of 3: submitted, 2 recipient(s)',
      'part 2 of 3: paid',
      'part 3 of 3: submitted, 1 recipient(s)',
      'part 3 of 3: paid',
    ]);
  });

  it('sends a part while the one before it settles', async () => {
    const test = createTestPayRun();
    test.state.verdict = () => 'settling';
    const paying = test.split();
    await expect.poll(() => test.state.settling.length).toBe(3);
    expect(test.state.lines).toEqual([
      'part 1 of 3: submitted, 2 recipient(s)',
      'part 2 of 3: submitted, 2 recipient(s)',
      'part 3 of 3: submitted, 1 recipient(s)',
    ]);
    await Promise.all(test.state.settling.map((end) => end('completed')));
    const outcome = await paying;
    expect(statesOf(outcome)).toEqual(['paid', 'paid', 'paid']);
    expect(outcome.parts.map(({ trace }) => trace !== undefined)).toEqual([true, true, true]);
    expectPaidOnce(test);
  });

  it('sends no more once a part that was settling has failed, and follows what is out', async () => {
    const test = createTestPayRun({ people: 7 });
    // Its failure is known when the second part has left.
    test.state.verdict = (job) => {
      if (job === 2) {
        void test.state.settling[0]?.('failed');
      }
      return 'settling';
    };
    const paying = test.split();
    await expect.poll(() => test.state.lines.at(-1)).toBe('part 1 of 4: failed');
    await test.state.settling[1]?.('completed');
    const outcome = await paying;
    expect(statesOf(outcome)).toEqual(['failed', 'paid', 'not-submitted', 'not-submitted']);
    expect(exitCodeOfSplit(outcome)).toBe(3);
    test.state.verdict = () => 'completed';
    expect(statesOf(await test.split({ retry: [1] }))).toEqual(['paid', 'paid', 'paid', 'paid']);
    expectPaidOnce(test);
  });

  it('submits nothing the second time, for any order of lines and any ceiling', async () => {
    const test = createTestPayRun();
    const first = await test.split();
    test.state.ceiling = 4;
    const again = await test.split({ entries: [...test.entries].reverse() });
    expect(again.parts.map(({ key }) => key)).toEqual(first.parts.map(({ key }) => key));
    expect(statesOf(again)).toEqual(['paid', 'paid', 'paid']);
    expect(test.state.submitted).toHaveLength(3);
  });

  it('checks every part before the first is submitted', async () => {
    const test = createTestPayRun();
    const last = (await createTestPayRun().split()).parts[2]!.entries[0]!;
    const entries = test.entries.map((entry, index) =>
      entry === test.entries.find((one) => one.recipientAddress === last.recipientAddress)
        ? { ...entry, line: 7, recipientAddress: '0xffffFFFfFFffffffffffffffFfFFFfffFFFfFFfE' }
        : { ...entry, line: 20 - index },
    );
    const outcome = await test.split({ entries });
    expect(test.state.submitted).toEqual([]);
    expect(outcome.stop).toMatchObject({ code: 'unregistered-recipient', exitCode: 2 });
    const problem = { part: 3, line: 7, column: 'address', code: 'unregistered-recipient' };
    expect(outcome.stop?.problems).toMatchObject([problem]);
    expect(outcome.stop?.message).toContain(
      'part 3, line 7, address: the recipient has not signed in and enrolled (0xffffFFFfFFffffffffffffffFfFFFfffFFFfFFfE, unregistered-recipient)',
    );
    // Nothing was sent, so the label is still free for the corrected roster.
    expect(statesOf(await test.split())).toEqual(['paid', 'paid', 'paid']);
  });

  it('compares the funder’s balance with what all parts need together', async () => {
    const test = createTestPayRun();
    test.chain.balance = 4_500n;
    const outcome = await test.split();
    expect(outcome.stop).toMatchObject({ code: 'insufficient_balance', exitCode: 6 });
    expect(outcome.stop?.message).toContain('5010');
    expect(test.state.submitted).toEqual([]);
  });

  it('stops at a part that fails, and sends the parts after it when run again', async () => {
    const test = createTestPayRun();
    test.state.verdict = (job) => (job === 2 ? 'failed' : 'completed');
    const first = await test.split();
    expect(statesOf(first)).toEqual(['paid', 'failed', 'not-submitted']);
    expect(exitCodeOfSplit(first)).toBe(3);
    const second = await test.split();
    expect(statesOf(second)).toEqual(['paid', 'failed', 'paid']);
    expect(exitCodeOfSplit(second)).toBe(3);
    expect(test.state.submitted).toHaveLength(3);
  });

  it('sends a failed part again under a new key, only with --retry', async () => {
    const test = createTestPayRun();
    test.state.verdict = (job) => (job === 2 ? 'failed' : 'completed');
    const failed = (await test.split()).parts[1]!;
    const retried = await test.split({ retry: [2] });
    expect(statesOf(retried)).toEqual(['paid', 'paid', 'paid']);
    expect(retried.parts[1]).toMatchObject({ attempt: 2, entries: failed.entries });
    expect(retried.parts[1]!.key).not.toBe(failed.key);
    // Without the option the attempt is kept. With the option a paid part is not sent again.
    for (const retry of [[], [2], [1, 2, 3]]) {
      expect(statesOf(await test.split({ retry }))).toEqual(['paid', 'paid', 'paid']);
    }
    expect(test.state.submitted).toHaveLength(4);
    expectPaidOnce(test);
  });

  it.each([
    ['a part that reverted', 'partial', 2],
    ['a part that was paid elsewhere', 'settled_elsewhere', 2],
    ['a part that does not exist', 'failed', 4],
  ] as const)('refuses to send %s once more', async (_what, verdict, part) => {
    const test = createTestPayRun();
    test.state.verdict = (job) => (job === 2 ? verdict : 'completed');
    expect(exitCodeOfSplit(await test.split())).toBe(verdict === 'partial' ? 4 : 3);
    await expect(test.split({ retry: [part] })).rejects.toMatchObject({ code: 'invalid_request' });
    expect(test.state.submitted).toHaveLength(2);
  });

  it('keeps the cut when the ceiling changes in between', async () => {
    const test = createTestPayRun({ people: 6, maxRecipients: 3 });
    test.state.verdict = (job) => (job === 2 ? 'failed' : 'completed');
    expect((await test.split()).parts.map(({ entries }) => entries.length)).toEqual([3, 3]);
    for (const ceiling of [1, 6]) {
      test.state.ceiling = ceiling;
      expect(statesOf(await test.split())).toEqual(['paid', 'failed']);
    }
    expect(test.state.submitted).toHaveLength(2);
    expect(statesOf(await test.split({ retry: [2] }))).toEqual(['paid', 'paid']);
    expectPaidOnce(test);
  });

  it('says what to do when a part no longer fits under a lowered ceiling', async () => {
    const name = { chain: 'anvil', token: 'USDC', payRun: '2026-11' };
    const test = createTestPayRun({ people: 6, maxRecipients: 3 });
    test.state.verdict = (job) => (job === 1 ? 'failed' : 'completed');
    await test.split();
    const lower = createTestPayRun({ people: 6, maxRecipients: 2 });
    const known = (await test.ledger().read(name))!;
    await lower.ledger().change(name, () => known);
    const { stop, parts } = await lower.split({ retry: [1] });
    expect(parts).toHaveLength(2);
    expect(stop).toMatchObject({ code: 'batch-too-large', exitCode: 2 });
    expect(stop?.message).toContain('raise it again');
    expect(lower.state.submitted).toEqual([]);
  });

  it('ends between two readings when it is interrupted, and continues later', async () => {
    const test = createTestPayRun();
    test.state.verdict = (job) => {
      if (job === 2) {
        test.state.interrupt.abort();
        return 'open';
      }
      return 'completed';
    };
    const outcome = await test.split();
    expect(statesOf(outcome)).toEqual(['paid', 'running', 'not-submitted']);
    expect(exitCodeOfSplit(outcome)).toBe(130);
    test.state.interrupt = new AbortController();
    test.state.verdict = () => 'completed';
    await test.work(2);
    expect(statesOf(await test.split())).toEqual(['paid', 'paid', 'paid']);
    expectPaidOnce(test);
  });

  it('pays everybody once if the process is killed at any point, with and without a retry', async () => {
    for (const when of ['before', 'after'] as const) {
      for (let call = 1; ; call += 1) {
        const test = createTestPayRun();
        test.state.verdict = (job) => (job === 2 ? 'failed' : 'completed');
        test.state.killAt = { call, when };
        const wasKilled = await test
          .split()
          .then(() => test.split({ retry: [2] }))
          .then(() => false)
          .catch((error: unknown) => {
            expect(error).toBeInstanceOf(KilledError);
            return true;
          });
        test.state.killAt = undefined;
        await test.split({ retry: [2] });
        const outcome = await test.split({ retry: [2] });
        expect(statesOf(outcome), `${when} call ${call}`).toEqual(['paid', 'paid', 'paid']);
        expectPaidOnce(test);
        if (!wasKilled) {
          expect(call).toBeGreaterThan(20);
          break;
        }
      }
    }
  });

  it('pays everybody once when two commands run at the same time', async () => {
    const test = createTestPayRun();
    await Promise.all([test.split(), test.split(), test.split({ unregistered: 'skip' })]);
    expect(statesOf(await test.split())).toEqual(['paid', 'paid', 'paid']);
    expectPaidOnce(test);
  });

  it('finds a later attempt again after the ledger was lost', async () => {
    const test = createTestPayRun();
    test.state.verdict = (job) => (job === 2 ? 'failed' : 'completed');
    await test.split();
    await test.split({ retry: [2] });
    test.loseLedger();
    expect(statesOf(await test.split({ retry: [2] }))).toEqual(['paid', 'paid', 'paid']);
    expectPaidOnce(test);
  });

  it('repeats the latest attempts, and no earlier ones, after the job store was lost', async () => {
    const name = { chain: 'anvil', token: 'USDC', payRun: '2026-11' };
    const test = createTestPayRun();
    test.state.verdict = (job) => (job === 2 ? 'failed' : 'completed');
    await test.split();
    const { parts } = await test.split({ retry: [2] });
    const bare = createTestPayRun();
    const known = (await test.ledger().read(name))!;
    await bare.ledger().change(name, () => known);
    await bare.split({ retry: [1, 2, 3] });
    // The keys that were paid: chain and platform know them. A key that failed would be a new payment.
    expect(bare.state.submitted).toEqual(parts.map(({ key }) => key));
  });

  it('keeps the key that a roster of one part has without --split', async () => {
    const test = createTestPayRun({ people: 2 });
    const [part] = (await test.split()).parts;
    expect(await test.whole()).toMatchObject({ key: part!.key, state: 'done' });
    expect(test.state.submitted).toHaveLength(1);
  });
});
