import { describe, expect, it } from 'vitest';
import { findWithdrawalLinks, suggestAmount } from './withdrawal-links.ts';

const day = 86_400_000;
const october = { amount: 3_000_000_000n, timeMs: Date.parse('2026-10-28T09:00:00Z') };
const november = { amount: 3_120_500_000n, timeMs: Date.parse('2026-11-28T09:00:00Z') };
const payslips = [october, november];
const later = november.timeMs + 10 * day;

describe('findWithdrawalLinks', () => {
  it('finds nothing in another amount on another day', () => {
    expect(findWithdrawalLinks(500_000_000n, later, payslips)).toEqual([]);
    expect(findWithdrawalLinks(3_120_500_001n, later, payslips)).toEqual([]);
  });

  it('finds a payslip of the same amount, however old', () => {
    expect(findWithdrawalLinks(october.amount, later, payslips)).toEqual([
      { kind: 'equal-amount', payslip: october },
    ]);
  });

  it('finds the sum of the newest payslips', () => {
    expect(findWithdrawalLinks(6_120_500_000n, later, payslips)).toEqual([
      { kind: 'equal-sum', count: 2 },
    ]);
  });

  it('finds a payslip of the same day, and says until when', () => {
    const link = { kind: 'same-day', payslip: november, untilMs: november.timeMs + day };
    expect(findWithdrawalLinks(5n, november.timeMs + day - 1, payslips)).toEqual([link]);
    expect(findWithdrawalLinks(5n, november.timeMs + day, payslips)).toEqual([]);
  });

  it('finds the day in UTC before the payslip too, where clocks differ', () => {
    expect(findWithdrawalLinks(5n, Date.parse('2026-11-28T00:00:00Z'), [november])).toHaveLength(1);
  });

  it('names every link', () => {
    const found = findWithdrawalLinks(november.amount, november.timeMs + 1, payslips);
    expect(found.map(({ kind }) => kind)).toEqual(['equal-amount', 'same-day']);
  });
});

describe('suggestAmount', () => {
  it('gives a round amount below the wanted one', () => {
    expect(suggestAmount(3_120_500_000n, payslips)).toBe(2_000_000_000n);
    expect(suggestAmount(5_000_000_000n, payslips)).toBe(2_000_000_000n);
    expect(suggestAmount(999_999n, payslips)).toBe(500_000n);
  });

  it('never gives an amount that links', () => {
    const paid = [2_000_000_000n, 1_000_000_000n].map((amount, month) => ({
      amount,
      timeMs: month * 31 * day,
    }));
    expect(suggestAmount(3_000_000_000n, paid)).toBe(500_000_000n);
    // 2 + 3 = 5: the sum of both.
    const summed = [2n, 3n].map((amount, month) => ({ amount, timeMs: month * day }));
    expect(suggestAmount(6n, summed)).toBe(1n);
  });

  it('has nothing to suggest for the smallest amount', () => {
    expect(suggestAmount(1n, [])).toBeUndefined();
  });
});
