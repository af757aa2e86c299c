/**
 * A line for each payee, and the one table of columns that its files share. Confidential: lines name people and salaries.
 *
 * @module
 */
import { encodeCsvField, formatTokenUnits } from '@pool/core';
import { convertAmount, type FiatRate, formatFiat } from './fiat.ts';

/** What became of one payee's payment. */
export type StatementLine = {
  /** Names the line in all files of a payment: label or key, part, position in the part. Absent: in no payment yet. */
  readonly reference?: string | undefined;
  readonly name?: string | undefined;
  /** Address of the wallet. Absent: an invited person who has none yet. */
  readonly wallet?: string | undefined;
  /** Base units, decimal. Absent: no source has it. */
  readonly amount?: string | undefined;
  /** Symbol. */
  readonly token: string;
  /** Of the token. Absent: the settings do not list it any more. */
  readonly decimals?: number | undefined;
  /** `paid`, `skipped`, `not submitted`, or what the payment does otherwise. */
  readonly state: string;
  /** Why it is not paid. */
  readonly reason?: string | undefined;
  readonly memo?: string | undefined;
  /** Of the note, if it is on chain. */
  readonly commitment?: string | undefined;
  /** Normal form of the pay run's label. */
  readonly payRun?: string | undefined;
  readonly jobKey?: string | undefined;
  /** Key of the chain. */
  readonly chain: string;
  readonly txHash?: string | undefined;
  /** Of the block that paid, or when the person was dropped. Milliseconds. */
  readonly timeMs?: number | undefined;
  /** Columns of the roster that the payment does not read, by name. */
  readonly further?: Readonly<Record<string, string>> | undefined;
};

/** What the user adds to every line. */
export type StatementOptions = { readonly fiat?: FiatRate | undefined };

/** Name of a column → what a line has in it. The file has them in this order. */
const columns: Readonly<
  Record<string, (line: StatementLine, options: StatementOptions) => string | undefined>
> = {
  reference: ({ reference }) => reference,
  name: ({ name }) => name,
  wallet: ({ wallet }) => wallet,
  amount: ({ amount, decimals }) =>
    amount === undefined || decimals === undefined
      ? undefined
      : formatTokenUnits(BigInt(amount), decimals),
  base_units: ({ amount }) => amount,
  token: ({ token }) => token,
  fiat_amount: ({ amount, decimals }, { fiat }) =>
    amount === undefined || decimals === undefined || fiat === undefined
      ? undefined
      : formatFiat(convertAmount(BigInt(amount), decimals, fiat), fiat.currency),
  fiat_currency: (_, { fiat }) => fiat?.currency,
  fiat_rate: (_, { fiat }) => fiat?.rate,
  state: ({ state }) => state,
  reason: ({ reason }) => reason,
  memo: ({ memo }) => memo,
  commitment: ({ commitment }) => commitment,
  pay_run: ({ payRun }) => payRun,
  job_key: ({ jobKey }) => jobKey,
  chain: ({ chain }) => chain,
  tx_hash: ({ txHash }) => txHash,
  time_utc: ({ timeMs }) => formatTime(timeMs),
};

/** Second precision, as blocks have it. */
export function formatTime(timeMs: number | undefined): string | undefined {
  return timeMs === undefined
    ? undefined
    : new Date(timeMs).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

type Table = {
  readonly names: readonly string[];
  readonly rows: readonly (readonly (string | undefined)[])[];
};

/** Further columns come last. One with a name of ours is called `roster_<name>`. */
function createTable(lines: readonly StatementLine[], options: StatementOptions): Table {
  const own = Object.entries(columns).filter(
    ([name]) => options.fiat !== undefined || !name.startsWith('fiat_'),
  );
  const further = [...new Set(lines.flatMap((line) => Object.keys(line.further ?? {})))];
  return {
    names: [
      ...own.map(([name]) => name),
      ...further.map((name) =>
        Object.hasOwn(columns, name.toLowerCase()) ? `roster_${name}` : name,
      ),
    ],
    rows: lines.map((line) => [
      ...own.map(([, read]) => read(line, options)),
      ...further.map((name) => line.further?.[name]),
    ]),
  };
}

/** For a spreadsheet, in UTF-8 with CRLF. A field that a spreadsheet would execute becomes text. */
export function encodeStatementCsv(
  lines: readonly StatementLine[],
  options: StatementOptions = {},
): string {
  const { names, rows } = createTable(lines, options);
  return [names, ...rows]
    .map((row) => `${row.map((field) => encodeCsvField(field ?? '')).join(',')}\r\n`)
    .join('');
}

/** For programs: the same columns. A line lacks those that it has nothing in. */
export function createStatementDocument(
  lines: readonly StatementLine[],
  options: StatementOptions = {},
): { readonly lines: readonly Readonly<Record<string, string>>[] } {
  const { names, rows } = createTable(lines, options);
  return {
    lines: rows.map((row) =>
      Object.fromEntries(
        names.flatMap((name, index) => {
          const field = row[index];
          return field === undefined ? [] : [[name, field]];
        }),
      ),
    ),
  };
}
