// The summary before money moves (docs/decisions/0008).
import { describe, expect, it } from 'vitest';
import { describePayment, locateSkipped, summarizePayment } from './pay-run-echo.ts';

const [one, two, three] = [
  '0x8EF31ED37e5320931Bf85677De447824a66c9991',
  '0x751CA7928deBE9e5DBE56adC2A366E5F61bed0B0',
  '0xffffFFFfFFffffffffffffffFfFFFfffFFFfFFfE',
] as const;
const entries = [
  { recipientAddress: one, amount: '1500000', line: 2 },
  { recipientAddress: two, amount: '7000000000', line: 3 },
  { recipientAddress: three, amount: '9000000000', line: 5 },
];
const reported = [
  {
    requestIndex: 0,
    recipientAddress: three,
    code: 'unregistered-recipient',
    message: 'recipients[0]: the recipient has not signed in and enrolled',
  },
];
const payment = {
  chain: 'anvil',
  token: 'USDC',
  payRun: '2026-11',
  entries,
  skipped: [],
  parts: 1,
};

describe('describePayment', () => {
  it('prints count, total and largest amount in token units', () => {
    expect(describePayment(payment, 6)).toEqual([
      'pay run 2026-11 on anvil: 3 recipient(s), 16001.5 USDC in total',
      `  largest: 9000 USDC to ${three} (line 5)`,
    ]);
  });

  it('does not count people who are skipped, and names them by line', () => {
    const skipped = locateSkipped(entries, reported);
    expect(describePayment({ ...payment, skipped, parts: 2 }, 6)).toEqual([
      'pay run 2026-11 on anvil: 2 recipient(s) in 2 parts, 7001.5 USDC in total',
      `  largest: 7000 USDC to ${two} (line 3)`,
      `  skipped line 5: ${three}: the recipient has not signed in and enrolled`,
    ]);
  });

  it('gives programs the same facts, in both units', () => {
    expect(summarizePayment(payment, 6)).toEqual({
      recipients: 3,
      total: '16001500000',
      largest: '9000000000',
      inTokenUnits: { total: '16001.5', largest: '9000' },
    });
  });
});

it('finds the line of a skipped recipient by address, in any order', () => {
  const job = [{ ...reported[0]!, requestIndex: 2, recipientAddress: two.toLowerCase() }];
  expect(locateSkipped(entries, job)).toMatchObject([{ line: 3 }]);
});
