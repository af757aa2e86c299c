// One label in all its spellings, and the payments that earlier versions made under other spellings of it
// (docs/decisions/0008). Earlier versions derived the key from the label as it was typed.
import { describe, expect, it } from 'vitest';
import { createTestPayRun, type TestPayRun } from '../fixtures/test-pay-run.ts';

const conflict = expect.objectContaining({ code: 'pay_run_conflict' });

function expectPaidOnce({ state, entries }: TestPayRun): void {
  expect(state.paid).toEqual(
    new Map(entries.map(({ recipientAddress, amount }) => [recipientAddress, [BigInt(amount)]])),
  );
}

function edit({ entries }: TestPayRun): TestPayRun['entries'] {
  return entries.map((entry, index) => (index === 0 ? { ...entry, amount: '7' } : entry));
}

describe.each(['whole', 'split'] as const)('a label, %s', (how) => {
  const create = (): TestPayRun =>
    createTestPayRun(how === 'whole' ? { people: 2 } : { people: 5 });

  it('is one label in upper and lower case, with blanks around it and in any Unicode form', async () => {
    const test = create();
    for (const typed of [
      'may',
      'MAY',
      'May ',
      '\u3000ma\u200by',
      'ｍａｙ',
      'm\u00e1y',
      'ma\u0301y',
    ]) {
      await test[how]({ payRun: typed });
    }
    expectPaidOnce(test);
    await expect(test[how]({ payRun: 'MAY', entries: edit(test) })).rejects.toThrow(conflict);
  });
});

describe.each(['whole', 'split'] as const)('a payment of an earlier version, %s', (how) => {
  const create = (): TestPayRun =>
    createTestPayRun(how === 'whole' ? { people: 2 } : { people: 5 });
  const count = how === 'whole' ? 1 : 3;

  it('is found in the ledger by every spelling, and is not paid again', async () => {
    const test = create();
    const keys = await test.payAsBefore('May', count);
    for (const typed of ['may', 'MAY', 'May', ' mAy ']) {
      await test[how]({ payRun: typed });
    }
    expect(test.state.submitted).toEqual(keys);
    expectPaidOnce(test);
    await expect(test[how]({ payRun: 'may', entries: edit(test) })).rejects.toThrow(conflict);
  });

  it('is found at the agent if the ledger was lost', async () => {
    for (const [before, now] of [
      ['MAY', 'may'],
      ['May', 'MAY'],
      ['mAy', 'mAy'],
      ['may', 'MAY'],
    ] as const) {
      const test = create();
      await test.payAsBefore(before, count);
      test.loseLedger();
      await test[how]({ payRun: now });
      await test[how]({ payRun: now });
      expectPaidOnce(test);
      await expect(test[how]({ payRun: now, entries: edit(test) })).rejects.toThrow(conflict);
    }
  });

  it('continues under its own keys after a job that failed', async () => {
    const test = create();
    test.state.verdict = (job) => (job === 1 ? 'failed' : 'completed');
    await test.payAsBefore('MAY', count);
    const { parts } = await test.split({ payRun: 'may', retry: [1] });
    expect(parts[0]).toMatchObject({ attempt: 2, key: expect.stringMatching(/^MAY-/) });
    expectPaidOnce(test);
  });

  it('is not paid again if another spelling of it failed', async () => {
    for (const isLost of [false, true]) {
      const test = create();
      test.state.verdict = (job) => (job <= count ? 'failed' : 'completed');
      await test.payAsBefore('may', count);
      await test.payAsBefore('MAY', count);
      if (isLost) {
        test.loseLedger();
      }
      await test.split({ payRun: 'may', retry: [1] });
      expectPaidOnce(test);
    }
  });
});

describe('two rosters that an earlier version paid under two spellings', () => {
  it('are both found, and a third one is refused', async () => {
    const test = createTestPayRun({ people: 2 });
    const first = await test.payAsBefore('may');
    const second = await test.payAsBefore('MAY', 1, edit(test));
    expect((await test.whole({ payRun: 'may' })).key).toBe(first[0]);
    expect((await test.whole({ payRun: 'may', entries: edit(test) })).key).toBe(second[0]);
    const third = { payRun: 'MAY', entries: test.entries.slice(1) };
    await expect(test.whole(third)).rejects.toThrow(conflict);
    expect(test.state.submitted).toEqual([...first, ...second]);
  });
});

describe('a payment of an earlier version that only the platform knows', () => {
  const create = async (): Promise<{ test: TestPayRun; key: string }> => {
    const before = createTestPayRun({ people: 2 });
    const [key = ''] = await before.payAsBefore('MAY');
    const test = createTestPayRun({ people: 2 });
    const { getSettlement } = test.platform;
    const [row] = [...before.platform.rows.values()];
    test.platform.getSettlement = async (asked) =>
      asked === key ? (row ?? ({ key } as never)) : getSettlement(asked);
    return { test, key };
  };

  it('is sent under the key that the platform knows', async () => {
    const { test, key } = await create();
    expect((await test.whole({ payRun: 'may' })).key).toBe(key);
  });

  it('is not sent while the platform does not answer', async () => {
    const { test } = await create();
    test.platform.failCalls(1);
    await expect(test.whole({ payRun: 'April' })).rejects.toMatchObject({
      code: 'platform_unreachable',
    });
    expect(test.state.submitted).toEqual([]);
  });
});

it('does not ask the platform about a label that has one spelling', async () => {
  const test = createTestPayRun({ people: 2 });
  await test.whole({ payRun: '2026-11' });
  expectPaidOnce(test);
  // The agent has asked, as it does for every key that it does not know. The command has not.
  expect(test.state.asked).toBe(0);
});
