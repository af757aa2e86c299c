// What could make a payroll be paid twice: a ledger or a job store that is gone, a ceiling that changes between
// two commands at once, an answer that was not seen (docs/decisions/0008).
import { PoolError } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { claimPayRun } from '../../../../packages/pay-run/src/ledger/pay-run-claim.ts';
import { sendPart } from '../../../../packages/pay-run/src/ledger/pay-run-send.ts';
import {
  createSplitDocument,
  describeSplit,
  stateOf,
} from '../../../../packages/pay-run/src/report/split-report.ts';
import { createTestPayRun, type TestPayRun } from './test-pay-run.ts';

const name = { chain: 'anvil', token: 'USDC', payRun: '2026-11' };
const conflict = expect.objectContaining({ code: 'pay_run_conflict' });

function expectPaidOnce({ state, entries }: TestPayRun): void {
  expect(state.paid).toEqual(
    new Map(entries.map(({ recipientAddress, amount }) => [recipientAddress, [BigInt(amount)]])),
  );
}

function edit({ entries }: TestPayRun): TestPayRun['entries'] {
  return entries.map((entry, index) => (index === 0 ? { ...entry, amount: '7' } : entry));
}

describe('a ledger without the record', () => {
  it('learns from the agent that the roster was paid whole, although the ceiling has fallen', async () => {
    const test = createTestPayRun({ people: 4, maxRecipients: 4 });
    await test.whole();
    test.loseLedger();
    for (const ceiling of [2, 1, 3]) {
      test.state.ceiling = ceiling;
      expect((await test.split()).parts.map(({ job }) => stateOf(job))).toEqual(['paid']);
    }
    expectPaidOnce(test);
  });

  it('learns from the agent into how many parts the roster was cut', async () => {
    for (const ceiling of [1, 2, 3, 4]) {
      const test = createTestPayRun({ people: 5, maxRecipients: 5 });
      test.state.ceiling = ceiling;
      test.state.verdict = (job) => (job === 2 ? 'failed' : 'completed');
      const { parts } = await test.split();
      test.loseLedger();
      await expect(test.whole()).rejects.toThrow('--split');
      test.state.ceiling = 5;
      const again = await test.split({ retry: [2] });
      expect(again.parts).toHaveLength(parts.length);
      expectPaidOnce(test);
    }
  });

  it('learns of a further attempt, so that the label stays taken', async () => {
    for (const loss of ['lost', 'restored from before'] as const) {
      const test = createTestPayRun({ people: 2 });
      test.state.verdict = (job) => (job === 1 ? 'failed' : 'completed');
      await test.whole();
      const before = (await test.ledger().read(name))!;
      await test.split({ retry: [1] });
      if (loss === 'lost') {
        test.loseLedger();
      } else {
        await test.ledger().change(name, () => before);
        await expect(test.whole({ entries: edit(test) }), loss).rejects.toThrow(conflict);
      }
      expect(await test.whole(), loss).toMatchObject({ state: 'done' });
      await expect(test.whole({ entries: edit(test) }), loss).rejects.toThrow(conflict);
      expectPaidOnce(test);
    }
  });
});

describe('a label that was not changed for the next month', () => {
  it('is reported as a run that paid nobody', async () => {
    const test = createTestPayRun();
    expect((await test.split()).isRepeat).toBe(false);
    expect((await test.split()).isRepeat).toBe(true);
  });
});

describe('two commands at once', () => {
  it('pay one cut, although the ceiling changed between them', async () => {
    const test = createTestPayRun({ people: 6, maxRecipients: 3 });
    const ceilings = [3, 2, 3, 2];
    Object.defineProperty(test.state, 'ceiling', { get: () => ceilings.shift() ?? 3 });
    const ends = await Promise.allSettled([test.split(), test.split(), test.split()]);
    expect(ends.map(({ status }) => status)).toContain('fulfilled');
    await test.split();
    expectPaidOnce(test);
  });
});

describe('two rosters at once under one label', () => {
  it.each(['whole', 'split'] as const)('are paid once, the one of them: %s', async (how) => {
    for (let round = 0; round < 5; round += 1) {
      const test = createTestPayRun({ people: 2 });
      const ends = await Promise.allSettled([
        test[how](),
        test[how]({ entries: edit(test) }),
        test[how](),
      ]);
      expect(ends.map(({ status }) => status)).toContain('fulfilled');
      expect([...test.state.paid.values()].map((amounts) => amounts.length)).toEqual([1, 1]);
    }
  });
});

describe('a job that the agent had accepted and no longer knows', () => {
  it('is sent again only with --retry, and then under the same key', async () => {
    for (const people of [2, 5]) {
      const test = createTestPayRun({ people });
      const { parts } = await test.split();
      // The same directory with another job store, or with an agent of another employer.
      const bare = createTestPayRun({ people });
      const known = (await test.ledger().read(name))!;
      await bare.ledger().change(name, () => known);
      await expect(bare.split()).rejects.toThrow('--retry 1');
      if (people === 2) {
        await expect(bare.whole()).rejects.toThrow('--retry 1');
      }
      expect(bare.state.submitted).toEqual([]);
      await bare.split({ retry: parts.map(({ part }) => part) });
      expect(bare.state.submitted).toEqual(parts.map(({ key }) => key));
    }
  });
});

describe('a request whose answer was not seen', () => {
  const place = { digest: '0x01', part: 1, count: 1, attempt: 1 };

  it.each([
    ['agent_unreachable', 504],
    ['agent_invalid_response', 502],
  ] as const)('keeps the label, even if one more try is refused: %s', async (code, status) => {
    const { ledger } = createTestPayRun();
    const deps = { ledger: ledger(), nowMs: () => 1, client: { find: async () => undefined } };
    await claimPayRun(name, { digest: '0x01', count: 1 }, deps);
    for (const error of [
      new PoolError(code, 'no answer', { status }),
      new PoolError('rate_limited', 'slower'),
    ]) {
      await expect(sendPart(name, place, () => Promise.reject(error), deps)).rejects.toThrow();
      expect((await ledger().read(name))?.parts[0]?.sent, error.code).toBe('sending');
    }
  });

  it('is reported as one that may have arrived', async () => {
    const { ledger } = createTestPayRun();
    const deps = { ledger: ledger(), nowMs: () => 1, client: { find: async () => undefined } };
    await claimPayRun(name, { digest: '0x01', count: 1 }, deps);
    const error = new PoolError('agent_unreachable', 'no answer');
    await expect(sendPart(name, place, () => Promise.reject(error), deps)).rejects.toMatchObject({
      code: 'agent_unreachable',
      retryable: true,
      message: expect.stringContaining('may have received it nevertheless'),
    });
  });

  it('is listed as sent in the summary', async () => {
    const test = createTestPayRun();
    const { submit } = test.client;
    test.client.submit = async (key, request) => {
      await submit(key, request);
      throw new PoolError('agent_invalid_response', 'cut off');
    };
    const outcome = await test.split();
    expect(outcome.parts.map(({ isUnseen = false }) => isUnseen)).toEqual([true, false, false]);
    expect(createSplitDocument(name, outcome)).toMatchObject({
      parts: [{ state: 'unknown' }, { state: 'not-submitted' }, { state: 'not-submitted' }],
    });
    expect(describeSplit(name, outcome, 6)).toContain(
      'part 1: sent, and the answer was not seen, 2 recipient(s)',
    );
    test.client.submit = submit;
    expect((await test.split()).parts.map(({ job }) => stateOf(job))).toEqual(
      Array(3).fill('paid'),
    );
    expectPaidOnce(test);
  });
});
