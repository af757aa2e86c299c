import { expect, it } from 'vitest';
import { makeTokenPolicy, pool, stranger, token } from '../fixtures/batches.ts';
import { describeAmount, findTokenUnit } from './policy-schema.ts';

it.each([
  [100_000_000_000n, 6, '100,000.00 USDC (100000000000)'],
  [1_234_567_890n, 6, '1,234.56789 USDC (1234567890)'],
  [1n, 6, '0.000001 USDC (1)'],
  [1_500_000n, 6, '1.50 USDC (1500000)'],
  [0n, 6, '0.00 USDC (0)'],
  [1_000n, 0, '1,000 USDC (1000)'],
  [12_345n, 1, '1,234.5 USDC (12345)'],
  [
    2n ** 128n - 1n,
    18,
    '340,282,366,920,938,463,463.374607431768211455 USDC (340282366920938463463374607431768211455)',
  ],
])('%s base units with %s decimals', (amount, decimals, text) => {
  expect(describeAmount(amount, { symbol: 'USDC', decimals })).toBe(text);
});

it('shows base units of a token that the policy does not list', () => {
  const policy = makeTokenPolicy({});
  expect(findTokenUnit(policy, { chainId: 31_337, pool, token })).toMatchObject({ decimals: 6 });
  for (const asset of [
    { chainId: 1, pool, token },
    { chainId: 31_337, pool: stranger, token },
    { chainId: 31_337, pool, token: stranger },
  ]) {
    expect(findTokenUnit(policy, asset)).toBeUndefined();
  }
  expect(findTokenUnit(undefined, { chainId: 31_337, pool, token })).toBeUndefined();
  expect(describeAmount(1_500_000n, undefined)).toBe('1500000 base units');
});
