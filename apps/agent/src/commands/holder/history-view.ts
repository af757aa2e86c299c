/**
 * A history as a table for people, and as CSV for spreadsheets and tax programs. Memos come from strangers: in the table they are quoted
 * and escaped, in the CSV no field begins like a formula.
 *
 * @module
 */

import type { History, HistoryEntry } from '@pool/api';
import { formatTokenUnits, quote } from '@pool/core';
import { encodeCsvField } from '@pool/pay-run';

/** Labels of contacts by W. They are added on this machine and sent nowhere. */
export type Labels = ReadonlyMap<string, string>;

/** What amounts are written in. */
export type Units = Pick<History, 'chain' | 'symbol' | 'decimals'>;

const tableColumns = [
  'TIME (UTC)',
  'WHAT',
  'AMOUNT',
  'CHANGE',
  'BALANCE',
  'TRANSACTION',
  'DETAILS',
];

/** Widths fit amounts of most tokens; a longer value moves its row only. */
const widths = [19, 8, 18, 14, 14, 66];

export function formatTableHead({ symbol }: Units): string {
  const names = tableColumns.map((name) => (name === 'AMOUNT' ? `AMOUNT (${symbol})` : name));
  return formatCells(names);
}

export function formatTableRow(entry: HistoryEntry, units: Units, labels: Labels): string {
  const format = (amount: string): string => formatTokenUnits(BigInt(amount), units.decimals);
  const time = entry.time.replace('T', ' ').replace('Z', '');
  const [what, amount, change] = describeSums(entry, format);
  const details = [describeDetails(entry, format, labels), describeGas(entry, units)]
    .filter((text) => text !== '')
    .join('; ');
  return formatCells([time, what, amount, change, format(entry.balance), entry.txHash, details]);
}

/** Said once, below the table. */
export const feeNote =
  'Fees: none in the token. The relayer pays the gas of transfers and withdrawals; what a gas key of this agent paid is beside its entry.';

function formatCells(cells: readonly string[]): string {
  return cells
    .map((cell, place) => {
      const width = widths[place] ?? 0;
      // Amounts end in one column.
      return place >= 2 && place <= 4 ? cell.padStart(width) : cell.padEnd(width);
    })
    .join('  ')
    .trimEnd();
}

function describeSums(
  entry: HistoryEntry,
  format: (amount: string) => string,
): readonly [string, string, string] {
  switch (entry.kind) {
    case 'received':
      return [entry.isChange ? 'change' : 'received', `+${format(entry.amount)}`, ''];
    case 'transfer':
    case 'send':
      return [
        entry.kind,
        entry.amount === undefined ? 'unknown' : `-${format(entry.amount)}`,
        format(entry.change),
      ];
    case 'merge':
      return ['merge', '0', format(entry.change)];
  }
}

/** The chain's own coin has 18 decimals, and chains.json does not name it. */
const coinDecimals = 18;

/** Of `send --self-submit`. */
function describeGas(entry: HistoryEntry, { chain }: Units): string {
  return 'gasWei' in entry && entry.gasWei !== undefined
    ? `gas ${formatTokenUnits(BigInt(entry.gasWei), coinDecimals)} coin of ${chain}`
    : '';
}

/** Of a spend whose change is more than the notes that this agent has of it. */
const missingNote =
  'amount unknown: a note that this spend used up is missing; take it with "disburse-agent notes import"';

function describeDetails(
  entry: HistoryEntry,
  format: (amount: string) => string,
  labels: Labels,
): string {
  switch (entry.kind) {
    case 'received':
      return entry.memo === undefined ? '' : quote(entry.memo);
    case 'send':
      return `to ${entry.address}`;
    case 'merge':
      return '';
    case 'transfer':
      if (entry.amount === undefined) {
        return missingNote;
      }
      return entry.payees === undefined
        ? 'to unknown payees: this agent does not have the spend, or has erased its payees'
        : entry.payees
            .map(({ walletPub, amount, memo }) => {
              const text = memo === undefined ? '' : ` ${quote(memo)}`;
              return `${format(amount)} to ${nameOf(walletPub, labels)}${text}`;
            })
            .join(', ');
  }
}

/** A contact as `@label (W)`, anybody else as W. */
export function nameOf(walletPub: string, labels: Labels): string {
  const label = labels.get(walletPub);
  return label === undefined ? walletPub : `@${label} (${walletPub})`;
}

/**
 * Columns of Koinly's universal format, which other programs map by name, then ours. One row for each payee. A merge moves nothing and has
 * no row.
 */
const csvColumns = [
  'Date',
  'Sent Amount',
  'Sent Currency',
  'Received Amount',
  'Received Currency',
  'Fee Amount',
  'Fee Currency',
  'Label',
  'Description',
  'TxHash',
  'Recipient',
  'Contact',
  'Change Amount',
  'Balance',
] as const;

export function formatCsvHead(): string {
  return csvColumns.join(',');
}

/** Rows of one entry, without line ends. */
export function formatCsvRows(
  entry: HistoryEntry,
  { chain, symbol, decimals }: Units,
  labels: Labels,
): readonly string[] {
  const format = (amount: string): string => formatTokenUnits(BigInt(amount), decimals);
  const date = `${entry.time.replace('T', ' ').replace('Z', '')} UTC`;
  // Once for each transaction. Empty: nothing that this agent knows of.
  const fee =
    'gasWei' in entry && entry.gasWei !== undefined
      ? [formatTokenUnits(BigInt(entry.gasWei), coinDecimals), `coin of ${chain}`]
      : ['', ''];
  type Moved = { sent?: string; received?: string; recipient?: string; memo?: string | undefined };
  const row = ({ sent, received, recipient = '', memo = '' }: Moved, isLast: boolean): string =>
    [
      date,
      ...(sent === undefined ? ['', ''] : [format(sent), symbol]),
      ...(received === undefined ? ['', ''] : [format(received), symbol]),
      ...(isLast ? fee : ['', '']),
      '',
      memo,
      entry.txHash,
      recipient,
      labels.get(recipient) ?? '',
      // Once for each transaction, so that a sum over the column is right.
      isLast && 'change' in entry ? format(entry.change) : '',
      isLast ? format(entry.balance) : '',
    ]
      .map(encodeCsvField)
      .join(',');
  switch (entry.kind) {
    case 'received':
      // Change whose spend is not known here: no income.
      return [row({ received: entry.amount, memo: entry.isChange ? 'change' : entry.memo }, true)];
    case 'send':
      return [row({ sent: entry.amount, recipient: entry.address }, true)];
    case 'merge':
      return [];
    case 'transfer': {
      if (entry.amount === undefined) {
        return [row({ recipient: 'unknown', memo: missingNote }, true)];
      }
      const unknown = { walletPub: 'unknown', amount: entry.amount, memo: undefined };
      const payees = entry.payees ?? [unknown];
      return payees.map((payee, place) =>
        row(
          { sent: payee.amount, recipient: payee.walletPub, memo: payee.memo },
          place === payees.length - 1,
        ),
      );
    }
  }
}
