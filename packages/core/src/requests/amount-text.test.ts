// Amounts as people write them: what each declared format reads, and what a refusal says (docs/decisions/0008).
import { describe, expect, it } from 'vitest';
import { type AmountUnit, describeTokenAmount, readAmount } from './amount-text.ts';

const usdc = { symbol: 'USDC', decimals: 6 };

/** The amount in base units, or the problem and how other formats would read the text. */
function read(text: string, format: AmountUnit['format'], token = usdc): string {
  const found = readAmount(text, { ...token, format });
  return found.kind === 'amount'
    ? String(found.amount)
    : [
        found.problem,
        ...found.readings.map(({ formats, amount }) => `${formats.join('|')}=${amount}`),
      ].join('; ');
}

describe('readAmount', () => {
  it.each([
    ['1234', 'base-units', '1234'],
    ['1234', 'plain', '1234000000'],
    ['1234.50', 'plain', '1234500000'],
    ['1234.50USDC', 'plain', '1234500000'],
    ['1234.50 USDC', 'plain', '1234500000'],
    ['1,234.50', 'comma-point', '1234500000'],
    ['1234.5', 'comma-point', '1234500000'],
    ['1,234,567.50 USD', 'comma-point', '1234567500000'],
    ['1.500', 'plain', '1500000'],
    ['1234.500', 'decimal', '1234500000'],
    ['0.500 USDC', 'decimal', '500000'],
    ['1.50USDC', 'decimal', '1500000'],
    ['1500', 'decimal', '1500000000'],
    ['1.234,50', 'point-comma', '1234500000'],
    ['1.234', 'point-comma', '1234000000'],
    ['1 234,50', 'space-comma', '1234500000'],
    ['1\u00a0234\u00a0567,50', 'space-comma', '1234567500000'],
    ['1\u202f234,50 USDC', 'space-comma', '1234500000'],
    ["1'234.50", 'apostrophe-point', '1234500000'],
    ['1’234.50', 'apostrophe-point', '1234500000'],
  ] as const)('reads %j as %s', (text, format, amount) => {
    expect(read(text, format)).toBe(amount);
  });

  it.each([
    ['1,234.50', 'base-units', 'is not a whole number of base units; comma-point=1234500000'],
    ['1.234,50', 'plain', expect.stringContaining('; point-comma=1234500000')],
    ['1234,50', 'plain', expect.stringContaining('; point-comma|space-comma=1234500000')],
    ['0.0000001USDC', 'plain', 'has 7 decimals, but USDC has 6; write at most 6 decimals'],
    ['1.5', 'base-units', 'is not a whole number of base units; decimal=1500000'],
    // Two people read it as two amounts: both are named, and none is chosen.
    ['1.500', 'base-units', expect.stringContaining('; plain=1500000; point-comma=1500000000')],
    // The review's case: 1500 to one reader, and read as 1.5.
    ['1.500USDC', 'decimal', 'has more than one meaning; plain=1500000; point-comma=1500000000'],
    ['12.125', 'decimal', 'has more than one meaning; plain=12125000; point-comma=12125000000'],
    ['1 500 USDC', 'base-units', expect.stringContaining('; space-comma=1500000000')],
    ['12,34.50', 'comma-point', 'is not an amount in token units, written like 1,234.50'],
    ['1.500,00', 'comma-point', expect.stringContaining('; point-comma=1500000000')],
  ] as const)('refuses %j as %s, and knows the formats that read it', (text, format, problem) => {
    expect(read(text, format)).toEqual(problem);
  });

  it.each([
    ['1000USDT', 'is in USDT, but the token is USDC'],
    ['1000usdc', 'is in usdc, but the token is USDC'],
    ['1.000,00 €', 'is in €, but the token is USDC'],
    ['$1000USDC', 'names its unit twice'],
    ['-5 USDC', 'is negative; an amount must be more than zero'],
    ['USDC', 'has no digits'],
    ['0 USDC', 'is zero; write an amount above zero, or remove the line'],
    ['1e3', /scientific notation/],
    ['0x10', /is not an amount in token units/],
    ['1١', /is not an amount/],
  ])('refuses %j', (text, problem) => {
    for (const format of ['plain', 'point-comma'] as const) {
      expect(read(text, format)).toMatch(problem);
    }
  });

  it('takes the sign of a currency only for a token that has its code', () => {
    expect(read('1.000,50 €', 'point-comma', { symbol: 'EURC', decimals: 6 })).toBe('1000500000');
    expect(read('£5', 'plain', { symbol: 'GBPT', decimals: 2 })).toBe('500');
    expect(read('5 USD', 'plain')).toBe('5000000');
    for (const symbol of ['EURC', 'USDC', 'sUSDe']) {
      expect(read('$100', 'plain', { symbol, decimals: 6 })).toBe(
        `is in $, but the token is ${symbol}`,
      );
    }
    expect(read('$100', 'plain', { symbol: 'US$', decimals: 2 })).toBe('10000');
    for (const symbol of ['sUSDe', 'USDe', 'USDbC', 'BUSD']) {
      expect(read('100 USD', 'plain', { symbol, decimals: 6 })).toContain('is in USD');
    }
  });

  it('takes a symbol with digits', () => {
    expect(read('5T2', 'plain', { symbol: 'T2', decimals: 0 })).toBe('5');
  });
});

describe('describeTokenAmount', () => {
  it('says tokens first, and base units for programs', () => {
    expect(describeTokenAmount(2_500_000n, usdc)).toBe('2.5 USDC (2500000 base units)');
  });
});
