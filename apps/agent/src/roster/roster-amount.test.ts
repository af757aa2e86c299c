// Amounts of a roster: the message for each invalid amount, and the warning about token units (docs/decisions/0022, §6).
import { describe, expect, it } from 'vitest';
import { parseRosterAmount, warnOfTokenUnits } from './roster-amount.ts';

const baseUnits = { decimals: 6, token: 'USDC', isDecimal: false };
const decimal = { ...baseUnits, isDecimal: true };
const tooMany = '9'.repeat(39);

function messageOf(text: string, unit = baseUnits): string {
  const read = parseRosterAmount(text, unit);
  return read.kind === 'mistake' ? read.message : `read as ${read.amount}`;
}

describe('parseRosterAmount', () => {
  it.each([
    ['1,500.00', '"1,500.00" is not a whole number of base units; use --decimal for token units'],
    ['12.5', '"12.5" is not a whole number of base units; use --decimal for token units'],
    ['5 USDC', '"5 USDC" is not a whole number of base units; use --decimal for token units'],
    [
      '1\u00a0500',
      '"1\\u{a0}500" is not a whole number of base units; use --decimal for token units',
    ],
    ['007', '"007" has a leading zero; write 7'],
    ['0', '"0" is zero; write an amount above zero, or remove the line'],
    ['-5', '"-5" is negative; an amount must be more than zero'],
    ['+5', '"+5" has a sign; write only the digits'],
    ['1.5E+09', /scientific notation/],
    ['', 'the amount is missing'],
    [tooMany, `"${tooMany}" is more than 2^128-1, the largest amount`],
  ])('reports the problem of %j in base units', (text, message) => {
    expect(messageOf(text)).toMatch(message);
  });

  it.each([
    ['007.5', '"007.5" has a leading zero; write 7.5'],
    ['007', '"007" has a leading zero; write 7'],
    ['0.0000001', '"0.0000001" has 7 decimals, but USDC has 6; write at most 6 decimals'],
    ['0.00', '"0.00" is zero; write an amount above zero, or remove the line'],
    [
      '1,5',
      /^"1,5" is not an amount in token units; write only digits, with a point before the decimals/,
    ],
    ['1,500.00', /write only digits, with a point before the decimals/],
    ['.5', /is not an amount in token units/],
    ['5.', /is not an amount in token units/],
    ['1e3', /scientific notation/],
    ['-0.5', /is negative/],
    [tooMany, /more than 2\^128-1 base units/],
    ['9'.repeat(5_000), /more than 2\^128-1 base units/],
  ])(
    'reports the problem of %j in token units, without advice about base units',
    (text, message) => {
      expect(messageOf(text, decimal)).toMatch(message);
      expect(messageOf(text, decimal)).not.toContain('--decimal');
    },
  );

  it('parses valid amounts exactly', () => {
    expect(messageOf('1500')).toBe('read as 1500');
    expect(messageOf('1500', decimal)).toBe('read as 1500000000');
    expect(messageOf('0.000001', decimal)).toBe('read as 1');
    expect(messageOf('1.5', { ...decimal, decimals: 0 })).toContain('USDC has 0');
  });
});

describe('warnOfTokenUnits', () => {
  const warn = (amounts: readonly string[], unit = baseUnits) =>
    warnOfTokenUnits(
      amounts.map((amount) => ({ amount })),
      unit,
    );

  it('advises --decimal if no recipient would receive one whole token', () => {
    expect(warn(['1500', '2000'])).toBe(
      'warning: amounts are read as base units, and no recipient of this roster receives a whole USDC: the largest amount, 2000, is 0.002 USDC; use --decimal if the amounts are in USDC',
    );
    expect(warn(['999999'])).toContain('--decimal');
  });

  it('gives no warning if one amount is a whole token, or if --decimal is given', () => {
    expect(warn(['1', '1000000'])).toBeUndefined();
    expect(warn(['1500'], decimal)).toBeUndefined();
    expect(warn(['1'], { ...baseUnits, decimals: 0 })).toBeUndefined();
  });
});
