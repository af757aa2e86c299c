import { describe, expect, it } from 'vitest';
import { readAmountField } from './amount-field.ts';

const usdc = { symbol: 'USDC', decimals: 6 };
function read(text: string, spendable = 5_000_000_000n) {
  return readAmountField(text, usdc, spendable);
}

describe('readAmountField', () => {
  it.each([
    ['1', 1_000_000n],
    [' 12.5 ', 12_500_000n],
    ['0.000001', 1n],
    ['1234.50 USDC', 1_234_500_000n],
  ])('reads %j in token units', (text, amount) => {
    expect(read(text)).toEqual({ kind: 'amount', amount });
  });

  it('knows an empty field from a wrong one', () => {
    expect(read('  ')).toEqual({ kind: 'empty' });
    expect(read('twelve')).toEqual({ kind: 'not-an-amount' });
    expect(read('-1')).toEqual({ kind: 'not-an-amount' });
    expect(read('0')).toEqual({ kind: 'not-an-amount' });
    expect(read('1 EURC')).toEqual({ kind: 'not-an-amount' });
  });

  it('offers each meaning of a text that formats read differently', () => {
    expect(read('1,500')).toEqual({ kind: 'unclear', readings: [1_500_000_000n, 1_500_000n] });
    expect(read('12,5')).toEqual({ kind: 'unclear', readings: [12_500_000n] });
  });

  it('says when a text has more decimals than the token', () => {
    expect(read('0.0000001')).toEqual({ kind: 'too-many-decimals' });
    expect(read('0,0000001')).toEqual({ kind: 'too-many-decimals' });
  });

  it('refuses one base unit more than the account holds', () => {
    expect(read('2', 2_000_000n)).toEqual({ kind: 'amount', amount: 2_000_000n });
    expect(read('2.000001', 2_000_000n)).toEqual({ kind: 'too-much' });
  });
});
