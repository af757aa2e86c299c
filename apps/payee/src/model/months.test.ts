import type { HistoryEntry } from '@pool/api';
import { describe, expect, it } from 'vitest';
import { groupPayslips, type PayslipEntry } from './months.ts';

function paid(id: string, time: string, amount: string, isChange = false): PayslipEntry {
  const bytes = `0x${'00'.repeat(32)}` as PayslipEntry['commitment'];
  return {
    ...{ kind: 'received', id, time, amount, isChange },
    ...{ index: 0, slot: 0, balance: '0', txHash: bytes, commitment: bytes },
  };
}

const entries: readonly HistoryEntry[] = [
  paid('1', '2026-09-30T22:30:00Z', '5'),
  paid('2', '2026-10-28T09:00:00Z', '7'),
  paid('3', '2026-10-29T09:00:00Z', '1', true),
  paid('4', '2026-10-30T09:00:00Z', '4'),
];

describe('groupPayslips', () => {
  it('has one month for each month of the payee, newest first, with sums', () => {
    const months = groupPayslips(entries, 'UTC');
    expect(months.map(({ key, total }) => [key, total])).toEqual([
      ['2026-10', 11n],
      ['2026-09', 5n],
    ]);
    expect(months[0]?.payslips.map(({ id }) => id)).toEqual(['4', '2']);
  });

  it('begins months in the given time zone', () => {
    expect(groupPayslips(entries, 'Europe/Berlin').map(({ key, total }) => [key, total])).toEqual([
      ['2026-10', 16n],
    ]);
  });

  it('has no month without payslips', () => {
    expect(groupPayslips([], 'UTC')).toEqual([]);
  });
});
