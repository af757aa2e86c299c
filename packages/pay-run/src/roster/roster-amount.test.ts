// Amounts of a roster: the message for each invalid amount, and the warning about token units (docs/decisions/0008).

import type { AmountUnit } from '@pool/core';
import { describe, expect, it } from 'vitest';
import {
  chooseFormat,
  decideRosterUnit,
  parseRosterAmount,
  warnOfTokenUnits,
} from './roster-amount.ts';

const baseUnits: AmountUnit = { decimals: 6, symbol: 'USDC', format: 'base-units' };
const decimal: AmountUnit = { ...baseUnits, format: 'decimal' };
const tooMany = '9'.repeat(39);

function messageOf(text: string, unit = baseUnits): string {
  const read = parseRosterAmount(text, unit);
  return read.kind === 'mistake' ? read.message : `read as ${read.amount}`;
}

describe('parseRosterAmount', () => {
  it.each([
    // The audit's case: "use --decimal" led to "write only digits".
    [
      '1,200.50',
      '"1,200.50" is not a whole number of base units; --number-format comma-point reads it as 1200.5 USDC',
    ],
    ['12.5', '"12.5" is not a whole number of base units; --decimal reads it as 12.5 USDC'],
    ['5 USDC', '"5 USDC" is not a whole number of base units; --decimal reads it as 5 USDC'],
    [
      '1\u00a0500',
      '"1\\u{a0}500" is not a whole number of base units; --number-format space-comma reads it as 1500 USDC',
    ],
    [
      '1,500',
      '"1,500" is not a whole number of base units; --number-format comma-point reads it as 1500 USDC; --number-format point-comma or --number-format space-comma reads it as 1.5 USDC',
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
      /^"1,5" is not an amount in token units, written like 1234.50; --number-format point-comma or/,
    ],
    ['1,500.00', /written like 1234.50; --number-format comma-point reads it as 1500 USDC$/],
    [
      '1.500',
      '"1.500" has more than one meaning; --number-format plain reads it as 1.5 USDC; --number-format point-comma reads it as 1500 USDC',
    ],
    ['.5', /is not an amount in token units/],
    ['5.', /is not an amount in token units/],
    ['1e3', /scientific notation/],
    ['-0.5', /is negative/],
    [tooMany, /more than 2\^128-1 base units/],
    ['9'.repeat(5_000), /more than 2\^128-1 base units/],
  ])(
    'reports the problem of %j in token units, without advice about --decimal',
    (text, message) => {
      expect(messageOf(text, decimal)).toMatch(message);
      expect(messageOf(text, decimal)).not.toContain('--decimal');
    },
  );

  it('parses valid amounts exactly', () => {
    expect(messageOf('1.500', { ...baseUnits, format: 'plain' })).toBe('read as 1500000');
    expect(messageOf('1.500', { ...baseUnits, format: 'point-comma' })).toBe('read as 1500000000');
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

describe('the format of a roster', () => {
  it('is base units, token units, or a declared number format', () => {
    expect(chooseFormat({})).toBe('base-units');
    expect(chooseFormat({ decimal: true })).toBe('decimal');
    expect(chooseFormat({ decimal: true, numberFormat: 'space-comma' })).toBe('space-comma');
  });
});

describe('a roster of digits alone', () => {
  const entries = [{ amount: '1234' }, { amount: '6' }];
  const decide = (answer: string | undefined, isUnasked = false, unit = baseUnits) => {
    const asked: string[] = [];
    const ask = async (question: string) => {
      asked.push(question);
      return answer;
    };
    const decided = decideRosterUnit(entries, unit, { isUnasked, ask });
    return { asked, decided };
  };

  it('is asked about on a terminal, with both readings', async () => {
    const { asked, decided } = decide('t');
    expect(await decided).toBe('decimal');
    expect(asked[0]).toContain('the largest is 0.001234 USDC, all together 0.00124 USDC');
    expect(asked[0]).toContain('the largest is 1234 USDC, all together 1240 USDC');
    expect(await decide('B').decided).toBe('base-units');
    for (const answer of ['', 'y', undefined]) {
      await expect(decide(answer).decided).rejects.toMatchObject({ code: 'payment_declined' });
    }
  });

  it('is base units in a script, and not asked about if its unit is declared', async () => {
    const none = { isUnasked: false, ask: undefined };
    expect(await decideRosterUnit(entries, baseUnits, none)).toBe('base-units');
    expect(decide('x', false, decimal)).toMatchObject({ asked: [] });
    expect(await decide('x', true, decimal).decided).toBe('decimal');
  });

  it('is refused under --yes if somebody would get less than one token', async () => {
    await expect(decide('y', true).decided).rejects.toMatchObject({
      code: 'invalid-amount',
      message: expect.stringContaining('as base units 1234 is 0.001234 USDC'),
    });
    const whole = [{ amount: '1000000' }];
    const question = { isUnasked: true, ask: undefined };
    expect(await decideRosterUnit(whole, baseUnits, question)).toBe('base-units');
  });
});
