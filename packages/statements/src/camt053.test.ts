// Every document is validated by libxml2 against a schema of the part of camt.053.001.08 that is written, and against ISO's own where
// POOL_TEST_CAMT053_SCHEMA names its file. A reader that is not ours reads one.
import { readFileSync } from 'node:fs';
import { CashManagementEndOfDayReport } from 'iso20022.js';
import { XmlDocument, XsdValidator } from 'libxml2-wasm';
import { describe, expect, it } from 'vitest';
import { type BankStatement, encodeCamt053, type PaidLine } from './camt053.ts';

const ours = new URL('../test/camt053-subset.xsd', import.meta.url);
const iso = process.env['POOL_TEST_CAMT053_SCHEMA'];
const schemas = [ours, ...(iso === undefined ? [] : [iso])].map((file) =>
  readFileSync(file, 'utf8'),
);
const names = { c: 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08' };

/** @returns what finds the texts of an XPath. @throws if a schema refuses the document */
function read(text: string): (path: string) => readonly string[] {
  const document = XmlDocument.fromString(text);
  for (const schema of schemas) {
    const rules = XmlDocument.fromString(schema);
    const validator = XsdValidator.fromDoc(rules);
    validator.validate(document);
    validator.dispose();
    rules.dispose();
  }
  return (path) => document.find(path, names).map((node) => node.content);
}

function line(reference: string, batch: number, amount: string, memo?: string): PaidLine {
  const [payRun = ''] = reference.split('/');
  return {
    ...{ reference, amount, memo, payRun, token: 'USDC', decimals: 6, state: 'paid' },
    ...{ chain: 'base', jobKey: `${payRun}-0`, wallet: `0x${'ab'.repeat(20)}` },
    txHash: `0x${`${batch}`.repeat(64)}`,
    timeMs: Date.UTC(2026, 10, 20 + batch, 12),
  };
}

const november: BankStatement = {
  ...{ account: '1200', accountName: `USDC on base 0x${'cd'.repeat(20)}`, servicer: 'base' },
  fiat: { currency: 'EUR', rate: '0.92' },
  opening: 1_000_000n,
  fromMs: Date.UTC(2026, 10, 1),
  toMs: Date.UTC(2026, 11, 1),
  nowMs: Date.UTC(2026, 11, 2, 8),
  lines: [
    line('2026-11/1.1', 1, '1000005000', 'Mai <&> für Zoë'),
    line('2026-11/1.2', 1, '5000'),
    line('late/1.1', 8, '250000000'),
  ],
  deposits: [{ day: '2026-11-28', amount: 500_000n }],
  withPayees: false,
};

describe('encodeCamt053', () => {
  it('has one entry for each batch and deposit, and balances that add up', () => {
    const { text, closing, entries } = encodeCamt053(november);
    const find = read(text);
    expect(entries).toBe(3);
    // 920.0046 and 0.0046 are rounded for each payee, as in the table: 920.00 + 0.00.
    expect(find('//c:Ntry/c:Amt')).toEqual(['920.00', '5000.00', '230.00']);
    expect(find('//c:Ntry/c:CdtDbtInd')).toEqual(['DBIT', 'CRDT', 'DBIT']);
    expect(find('//c:Bal/c:Amt')).toEqual(['10000.00', '13850.00']);
    expect(closing).toBe(1_385_000n);
    expect(find('//c:Bal/c:Dt/c:Dt')).toEqual(['2026-11-01', '2026-11-30']);
    expect(find('//c:TxsSummry//c:Sum')).toEqual(['5000.00', '1150.00']);
    expect(find('//c:Ntry/c:BookgDt/*')).toEqual([
      '2026-11-21T12:00:00Z',
      '2026-11-28',
      '2026-11-28T12:00:00Z',
    ]);
    expect(find('//@Ccy').every((text) => text === 'EUR')).toBe(true);
    expect(find('//c:Btch/c:NbOfTxs')).toEqual(['2', '1']);
    expect(find('//c:Ntry/c:AddtlNtryInf')[0]).toBe(
      `pay run 2026-11, 1000.01 USDC at 0.92 EUR, transaction 0x${'1'.repeat(64)} on base, key 2026-11-0`,
    );
  });

  it('has the same number when it is written again, and another for another account or period', () => {
    const numberOf = (other: Partial<BankStatement>) =>
      read(encodeCamt053({ ...november, ...other }).text)('//c:MsgId');
    const again = numberOf({ nowMs: november.nowMs + 1 });
    expect(again).toEqual(numberOf({}));
    expect(numberOf({ accountName: 'USDT on base' })).not.toEqual(again);
    expect(numberOf({ toMs: november.toMs + 86_400_000 })).not.toEqual(again);
  });

  it('names payees only when it is asked to', () => {
    expect(encodeCamt053(november).text).not.toMatch(/abab|Zoë|2026-11\/1\.1/);
    const find = read(encodeCamt053({ ...november, withPayees: true }).text);
    expect(find('//c:EndToEndId')).toEqual(['2026-11/1.1', '2026-11/1.2', 'late/1.1']);
    expect(find('//c:TxDtls/c:Amt')).toEqual(['920.00', '0.00', '230.00']);
    expect(find('//c:Ustrd')).toEqual(['Mai <&> für Zoë']);
  });

  it('is read by a library for banks’ files', () => {
    const { text } = encodeCamt053({ ...november, withPayees: true });
    const { messageId, statements } = CashManagementEndOfDayReport.fromXML(text);
    expect(messageId).toMatch(/^20261101T000000-/);
    expect(statements).toMatchObject([
      {
        account: { accountNumber: '1200', currency: 'EUR' },
        agent: { routingNumber: 'base' },
        fromDate: new Date(november.fromMs),
        numOfEntries: 3,
        balances: [
          { type: 'OPBD', amount: 1_000_000, creditDebitIndicator: 'credit' },
          { type: 'CLBD', amount: 1_385_000, creditDebitIndicator: 'credit' },
        ],
        entries: [
          {
            ...{ amount: 92_000, currency: 'EUR', creditDebitIndicator: 'debit' },
            transactions: [{ remittanceInformation: 'Mai <&> für Zoë' }, {}],
          },
          { amount: 500_000, creditDebitIndicator: 'credit', transactions: [] },
          { amount: 23_000, creditDebitIndicator: 'debit' },
        ],
      },
    ]);
  });

  it('writes an amount with the digits of its currency', () => {
    const yen = { currency: 'JPY', rate: '150' };
    const find = read(encodeCamt053({ ...november, fiat: yen }).text);
    expect(find('//c:Ntry/c:Amt')).toEqual(['150002', '500000', '37500']);
  });

  it('has balances without an entry', () => {
    const find = read(encodeCamt053({ ...november, lines: [], deposits: [] }).text);
    expect(find('//c:Bal/c:Amt')).toEqual(['10000.00', '10000.00']);
  });

  it('refuses a balance below zero, an amount above 18 digits and a character that XML lacks', () => {
    const refused = (change: Partial<BankStatement>) =>
      expect(() => encodeCamt053({ ...november, ...change })).toThrow(
        expect.objectContaining({ code: 'invalid_request' }),
      );
    refused({ opening: 0n, deposits: [] });
    refused({ opening: 10n ** 18n });
    refused({ account: 'a\u0000b' });
  });
});
