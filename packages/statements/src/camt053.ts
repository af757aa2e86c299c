/**
 * A statement of an account as banks send it: ISO 20022 camt.053.001.08, with an entry for each batch.
 *
 * @module
 */
import { canonicalDigest, formatTokenUnits, PoolError } from '@pool/core';
import XmlBuilder from 'fast-xml-builder';
import { convertAmount, type FiatRate, formatFiat } from './fiat.ts';
import { formatTime, type StatementLine } from './statement.ts';

/** A payee who was paid, with everything that an entry needs. */
export type PaidLine = StatementLine & {
  readonly amount: string;
  readonly decimals: number;
  readonly txHash: string;
  readonly timeMs: number;
};

/** Money that came into the account. No source of ours has it, so the user declares it. */
export type Deposit = {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  /** In the smallest unit of the currency. */
  readonly amount: bigint;
};

export type BankStatement = {
  /** Its number or name in the books. 1 to 34 characters. */
  readonly account: string;
  /** What it is, for people. 1 to 70 characters. */
  readonly accountName: string;
  /** Who keeps the account, where a bank has its routing number: the chain. 1 to 35 characters. */
  readonly servicer: string;
  readonly fiat: FiatRate;
  /** In the smallest unit of the currency. */
  readonly opening: bigint;
  /** Included. */
  readonly fromMs: number;
  /** Not included. */
  readonly toMs: number;
  readonly nowMs: number;
  readonly lines: readonly PaidLine[];
  readonly deposits: readonly Deposit[];
  /** Each entry lists its payees, with wallet and memo. */
  readonly withPayees: boolean;
};

type Entry = {
  readonly date: { readonly Dt: string } | { readonly DtTm: string };
  readonly kind: 'CRDT' | 'DBIT';
  readonly amount: bigint;
  readonly more: Readonly<Record<string, unknown>>;
  readonly reference?: string;
  readonly about: string;
};

/** The most that an amount may have, without the point (ISO 20022). */
const maxDigits = 18;

/** @throws PoolError `invalid_request`: the balance would be negative, an amount is too large, or a text has characters that XML cannot carry */
export function encodeCamt053(statement: BankStatement): {
  readonly text: string;
  /** In the smallest unit of the currency. */
  readonly closing: bigint;
  readonly entries: number;
} {
  const { fiat, opening, deposits, fromMs, toMs, nowMs, account, accountName, servicer } =
    statement;
  const { currency } = fiat;
  const batches = [...Map.groupBy(statement.lines, ({ txHash }) => txHash).values()];
  const entries = [
    ...deposits.map(createDepositEntry),
    ...batches.map((lines) => createBatchEntry(lines, statement)),
  ].toSorted(
    (one, other) => Number(timeOf(one) > timeOf(other)) - Number(timeOf(one) < timeOf(other)),
  );
  const credits = entries.filter(({ kind }) => kind === 'CRDT');
  const debits = entries.filter(({ kind }) => kind === 'DBIT');
  const closing = opening + sum(credits) - sum(debits);
  if (closing < 0n) {
    throw new PoolError(
      'invalid_request',
      `the payments of the period are ${formatFiat(-closing, currency)} ${currency} more than the account had; correct --opening, or name what came in with --deposit`,
    );
  }
  const money = (amount: bigint) => ({ '@Ccy': currency, '#': formatMoney(amount, currency) });
  const balance = (code: string, amount: bigint, timeMs: number) => ({
    Tp: { CdOrPrtry: { Cd: code } },
    Amt: money(amount),
    CdtDbtInd: 'CRDT',
    Dt: { Dt: dayOf(timeMs) },
  });
  const total = (some: readonly Entry[]) => ({
    NbOfNtries: String(some.length),
    Sum: formatMoney(sum(some), currency),
  });
  // A second is the precision of blocks.
  const lastMs = toMs - 1_000;
  // The same for the same account and period, at most 35 characters.
  const digest = canonicalDigest([account, accountName, fromMs, toMs]);
  const id = `${compactTime(fromMs)}-${digest.slice(2, 18)}`;
  const document = {
    Document: {
      '@xmlns': 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08',
      BkToCstmrStmt: {
        GrpHdr: { MsgId: id, CreDtTm: formatTime(nowMs) },
        Stmt: {
          Id: id,
          CreDtTm: formatTime(nowMs),
          FrToDt: { FrDtTm: formatTime(fromMs), ToDtTm: formatTime(lastMs) },
          Acct: {
            Id: { Othr: { Id: account } },
            Ccy: currency,
            Nm: accountName,
            // The standard has it optional. Software that reads banks' files expects one.
            Svcr: { FinInstnId: { Othr: { Id: servicer } } },
          },
          Bal: [balance('OPBD', opening, fromMs), balance('CLBD', closing, lastMs)],
          TxsSummry: {
            TtlNtries: { NbOfNtries: String(entries.length) },
            TtlCdtNtries: total(credits),
            TtlDbtNtries: total(debits),
          },
          Ntry: entries.map(({ date, kind, amount, more, reference, about }) => ({
            Amt: money(amount),
            CdtDbtInd: kind,
            Sts: { Cd: 'BOOK' },
            BookgDt: date,
            ValDt: date,
            ...(reference === undefined ? {} : { AcctSvcrRef: reference }),
            BkTxCd: {
              Domn: {
                Cd: 'PMNT',
                Fmly: { Cd: kind === 'DBIT' ? 'ICDT' : 'RCDT', SubFmlyCd: 'OTHR' },
              },
            },
            ...more,
            AddtlNtryInf: about.slice(0, 500),
          })),
        },
      },
    },
  };
  return { text: encodeXml(document), closing, entries: entries.length };
}

/** Its amount is the sum of the payees' amounts as the table of {@link StatementLine}s has them, so both add up. */
function createBatchEntry(
  lines: readonly PaidLine[],
  { fiat, withPayees }: Pick<BankStatement, 'fiat' | 'withPayees'>,
): Entry {
  const [first] = lines;
  if (first === undefined) {
    throw new Error('a batch has a payee');
  }
  const { txHash, timeMs, decimals, token, chain, jobKey, payRun } = first;
  const amounts = lines.map(({ amount }) => convertAmount(BigInt(amount), decimals, fiat));
  const units = lines.reduce((total, line) => total + BigInt(line.amount), 0n);
  const { currency, rate } = fiat;
  const money = (amount: bigint) => ({ '@Ccy': currency, '#': formatMoney(amount, currency) });
  const amount = amounts.reduce((one, other) => one + other, 0n);
  const details = lines.map(({ reference, wallet, memo }, index) => ({
    ...(reference === undefined || reference.length > 35
      ? {}
      : { Refs: { EndToEndId: reference } }),
    Amt: money(amounts[index] ?? 0n),
    CdtDbtInd: 'DBIT',
    // A field has 140 characters, and a memo at most 111 bytes.
    ...(memo === undefined || memo === '' ? {} : { RmtInf: { Ustrd: memo } }),
    AddtlTxInf: `wallet ${wallet}`,
  }));
  const label = payRun === undefined ? '' : `pay run ${payRun}, `;
  return {
    date: { DtTm: formatTime(timeMs) ?? '' },
    kind: 'DBIT',
    amount,
    // The first 16 bytes: a reference of the standard has 35 characters.
    reference: txHash.slice(0, 34),
    more: {
      NtryDtls: {
        Btch: { NbOfTxs: String(lines.length), TtlAmt: money(amount), CdtDbtInd: 'DBIT' },
        ...(withPayees ? { TxDtls: details } : {}),
      },
    },
    about: `${label}${formatTokenUnits(units, decimals)} ${token} at ${rate} ${currency}, transaction ${txHash} on ${chain}, key ${jobKey}`,
  };
}

function createDepositEntry({ day, amount }: Deposit): Entry {
  return { date: { Dt: day }, kind: 'CRDT', amount, more: {}, about: 'deposit, as declared' };
}

/** A deposit comes first on its day. */
function timeOf({ date }: Entry): string {
  return 'Dt' in date ? date.Dt : date.DtTm;
}

function sum(entries: readonly Entry[]): bigint {
  return entries.reduce((total, { amount }) => total + amount, 0n);
}

function formatMoney(amount: bigint, currency: string): string {
  if (amount.toString().length > maxDigits) {
    throw new PoolError(
      'invalid_request',
      `an amount has more than ${maxDigits} digits, which camt.053 does not allow; choose a shorter period`,
    );
  }
  return formatFiat(amount, currency);
}

function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

/** 15 characters, so that two and a dash are an identifier of the standard, which has at most 35. */
function compactTime(timeMs: number): string {
  return (formatTime(timeMs) ?? '').replaceAll(/[-:Z]/g, '');
}

function encodeXml(document: object): string {
  const builder = new XmlBuilder({
    ...{ format: true, ignoreAttributes: false, attributeNamePrefix: '@', textNodeName: '#' },
  });
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n${builder.build(document)}`;
  // Characters of XML 1.0. The builder escapes markup, and lets the others through.
  if (/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(text)) {
    throw new PoolError(
      'invalid_request',
      'a memo or the account has a character that XML cannot carry; correct the account, or leave out --payees',
    );
  }
  return text;
}
