// One label in all its spellings (docs/decisions/0008).
import { describe, expect, it } from 'vitest';
import { createTestPayRun, type TestPayRun } from './test-pay-run.ts';

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
