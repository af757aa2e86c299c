/**
 * A history as CSV for spreadsheets and tax programs. Memos come from strangers: no field begins like a formula.
 *
 * @module
 */
import type { History, HistoryEntry } from '@pool/api';
import { encodeCsvField, formatTokenUnits } from '@pool/core';

/** Labels of contacts by W. They are added on this device and sent nowhere. */
export type HistoryLabels = ReadonlyMap<string, string>;

/** What amounts are written in. */
export type HistoryUnits = Pick<History, 'chain' | 'symbol' | 'decimals'>;

/** The chain's own coin has 18 decimals, and chains.json does not name it. */
export const coinDecimals = 18;

/**
 * Columns of Koinly's universal format, which other programs map by name, then ours. One row for each payee. A merge moves nothing and has
 * no row.
 */
const columns = [
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

export function formatHistoryCsvHead(): string {
  return columns.join(',');
}

/**
 * Rows of one entry, without line ends.
 * @param missingNote - description of a payment whose amount is unknown, because a note that it used up is missing here
 */
export function formatHistoryCsvRows(
  entry: HistoryEntry,
  { chain, symbol, decimals }: HistoryUnits,
  labels: HistoryLabels,
  missingNote: string,
): readonly string[] {
  const format = (amount: string): string => formatTokenUnits(BigInt(amount), decimals);
  const date = `${entry.time.replace('T', ' ').replace('Z', '')} UTC`;
  // Once for each transaction. Empty: nothing that the holder is known to have paid.
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
