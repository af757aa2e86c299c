import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { createStatementDocument, encodeStatementCsv, type StatementLine } from './statement.ts';

const paid: StatementLine = {
  reference: '2026-11/1.1',
  name: 'Zoë "Z", O\u2019Hara',
  wallet: `0x${'ab'.repeat(20)}`,
  amount: '1234567',
  token: 'USDC',
  decimals: 6,
  state: 'paid',
  memo: '=HYPERLINK("http://x")',
  payRun: '2026-11',
  chain: 'base',
  timeMs: Date.UTC(2026, 10, 28, 12),
  further: { '@team': '-1', state: 'Texas' },
};

describe('encodeStatementCsv', () => {
  it('gives every reader the same fields back, and a spreadsheet nothing to execute', () => {
    const [row] = parse<Record<string, string>>(encodeStatementCsv([paid]), {
      columns: true,
    });
    expect(row).toMatchObject({
      name: paid.name,
      amount: '1.234567',
      base_units: '1234567',
      memo: `'${paid.memo}`,
      state: 'paid',
      roster_state: 'Texas',
      "'@team": "'-1",
      time_utc: '2026-11-28T12:00:00Z',
    });
  });

  it('has an empty amount for a token that the settings do not list', () => {
    const { decimals: _, ...unlisted } = paid;
    const text = encodeStatementCsv([unlisted], { fiat: { currency: 'EUR', rate: '1' } });
    const [row] = parse<Record<string, string>>(text, { columns: true });
    expect(row).toMatchObject({ amount: '', fiat_amount: '', base_units: '1234567' });
  });
});

it('has the columns of the table in the document, without empty ones', () => {
  const options = { fiat: { currency: 'EUR', rate: '0.5' } };
  const { lines } = createStatementDocument([paid], options);
  const [head = ''] = encodeStatementCsv([paid], options).split('\r\n');
  const names = Object.keys(lines[0] ?? {});
  expect(
    head
      .replaceAll("'", '')
      .split(',')
      .filter((name) => names.includes(name)),
  ).toEqual(names);
  expect(lines[0]).toMatchObject({ fiat_amount: '0.62', '@team': '-1' });
  expect(names).not.toContain('reason');
});
