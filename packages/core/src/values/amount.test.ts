import { describe, expect, it } from 'vitest';
import {
  formatTokenUnits,
  isAmountString,
  maxAmount,
  parseAmount,
  parseTokenUnits,
} from './amount.ts';

const invalid = expect.objectContaining({ code: 'invalid-amount' });
const max = '340282366920938463463374607431768211455';

describe('parseAmount', () => {
  it.each(['1', '10', '9007199254740993', max])('reads %s', (text) => {
    expect(parseAmount(text)).toBe(BigInt(text));
    expect(isAmountString(text)).toBe(true);
  });

  it('knows the largest amount', () => {
    expect(maxAmount.toString()).toBe(max);
  });

  it.each([
    '',
    '0',
    '00',
    '01',
    '+1',
    '-1',
    '1.0',
    '1e3',
    '0x1',
    ' 1',
    '1 ',
    '1\n',
    '1_000',
    '1,000',
    '１',
    '340282366920938463463374607431768211456',
    '9'.repeat(39),
    '1'.repeat(4000),
    1,
    1n,
    null,
    undefined,
    ['1'],
    { toString: () => '1' },
  ])('refuses %o', (value) => {
    expect(isAmountString(value)).toBe(false);
    expect(() => parseAmount(value)).toThrow(invalid);
  });
});

describe('parseTokenUnits', () => {
  it.each([
    ['1', 6, 1_000_000n],
    ['12.5', 6, 12_500_000n],
    ['0.000001', 6, 1n],
    ['7.10', 2, 710n],
    ['0.10', 2, 10n],
    ['5', 0, 5n],
    ['1', 36, 10n ** 36n],
  ])('reads %s with %i decimals', (text, decimals, amount) => {
    expect(parseTokenUnits(text, decimals)).toBe(amount);
  });

  it.each([
    ['0.0000001', 6],
    ['1.5', 0],
    ['1.', 6],
    ['.5', 6],
    ['0', 6],
    ['0.000', 6],
    ['-1', 6],
    ['1e2', 6],
    ['1,5', 6],
    ['1.5.0', 6],
    ['', 6],
    ['1000', 36],
    ['007.5', 6],
    ['00.5', 6],
  ])('refuses %j with %i decimals', (text, decimals) => {
    expect(() => parseTokenUnits(text, decimals)).toThrow(invalid);
  });
});

describe('formatTokenUnits', () => {
  it.each([
    [0n, 6, '0'],
    [1n, 6, '0.000001'],
    [1_500_000n, 6, '1.5'],
    [2_000_000n, 6, '2'],
    [5n, 0, '5'],
    [10n ** 36n, 36, '1'],
  ])('writes %s with %i decimals as %s', (amount, decimals, text) => {
    expect(formatTokenUnits(amount, decimals)).toBe(text);
  });
});
