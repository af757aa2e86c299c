/**
 * A history as a table for people. Memos come from strangers: they are quoted and escaped.
 *
 * @module
 */

import type { HistoryEntry } from '@pool/api';
import { formatTokenUnits, quote } from '@pool/core';
import { coinDecimals, type HistoryLabels, type HistoryUnits } from '@pool/wallet';

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

export function formatTableHead({ symbol }: HistoryUnits): string {
  const names = tableColumns.map((name) => (name === 'AMOUNT' ? `AMOUNT (${symbol})` : name));
  return formatCells(names);
}

export function formatTableRow(
  entry: HistoryEntry,
  units: HistoryUnits,
  labels: HistoryLabels,
): string {
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

/** Of `send --self-submit`. */
function describeGas(entry: HistoryEntry, { chain }: HistoryUnits): string {
  return 'gasWei' in entry && entry.gasWei !== undefined
    ? `gas ${formatTokenUnits(BigInt(entry.gasWei), coinDecimals)} coin of ${chain}`
    : '';
}

/** Of a spend whose change is more than the notes that this agent has of it. */
export const missingNote =
  'amount unknown: a note that this spend used up is missing; take it with "disburse-agent notes import"';

function describeDetails(
  entry: HistoryEntry,
  format: (amount: string) => string,
  labels: HistoryLabels,
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
export function nameOf(walletPub: string, labels: HistoryLabels): string {
  const label = labels.get(walletPub);
  return label === undefined ? walletPub : `@${label} (${walletPub})`;
}
