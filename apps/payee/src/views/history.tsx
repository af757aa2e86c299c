/**
 * Everything that happened in one token, and the same as a CSV file.
 *
 * @module
 */
import type { HistoryEntry } from '@pool/api';
import { formatTokenAmount } from '@pool/core';
import { formatHistoryCsvHead, formatHistoryCsvRows } from '@pool/wallet';
import { download } from '../parts/download.ts';
import { Button, Foreign, View } from '../parts/elements.tsx';
import { formatTime } from '../parts/format.ts';
import { texts } from '../texts.ts';
import type { Contact, PayeeHistory } from '../wallet-port.ts';

export function HistoryView({
  history,
  contacts,
}: {
  readonly history: PayeeHistory;
  readonly contacts: readonly Contact[];
}) {
  const labels = new Map<string, string>(
    contacts.map(({ walletPub, label }) => [walletPub, label]),
  );
  const { history: words } = texts;
  const { columns } = words;
  return (
    <View title={words.title}>
      {history.entries.length === 0 ? (
        <p>{words.empty}</p>
      ) : (
        <>
          <Button onClick={() => downloadCsv(history, labels)}>{words.csv}</Button>
          <table>
            <caption class="hidden">{words.title}</caption>
            <thead>
              <tr>
                {Object.values(columns).map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {history.entries.toReversed().map((entry) => (
                <tr key={entry.id}>
                  <td data-name={columns.time}>{formatTime(entry.time)}</td>
                  <td data-name={columns.what}>{words.kinds[nameKind(entry)]}</td>
                  <td data-name={columns.amount} class="amount">
                    {describeAmount(entry, history)}
                  </td>
                  <td data-name={columns.details}>
                    <Foreign text={describeDetails(entry, history, labels)} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </View>
  );
}

function nameKind(entry: HistoryEntry): keyof typeof texts.history.kinds {
  return entry.kind === 'received' && entry.isChange ? 'change' : entry.kind;
}

function describeAmount(entry: HistoryEntry, history: PayeeHistory): string {
  if (entry.kind === 'merge') return formatTokenAmount(0n, history);
  if (entry.amount === undefined) return texts.history.unknownAmount;
  const amount = formatTokenAmount(BigInt(entry.amount), history);
  return entry.kind === 'received' ? `+${amount}` : `−${amount}`;
}

function describeDetails(
  entry: HistoryEntry,
  { payers }: PayeeHistory,
  labels: ReadonlyMap<string, string>,
): string {
  const { to } = texts.history;
  switch (entry.kind) {
    case 'received':
      return [payers[entry.txHash], entry.memo].filter((text) => text !== undefined).join(': ');
    case 'send':
      return to(entry.address);
    case 'merge':
      return '';
    case 'transfer':
      return (entry.payees ?? [])
        .map(({ walletPub }) => to(labels.get(walletPub) ?? walletPub))
        .join(', ');
  }
}

function downloadCsv(history: PayeeHistory, labels: ReadonlyMap<string, string>): void {
  const rows = history.entries.flatMap((entry) =>
    formatHistoryCsvRows(entry, history, labels, texts.history.missingNote),
  );
  const lines = [formatHistoryCsvHead(), ...rows].map((row) => `${row}\r\n`);
  download(texts.history.csvName(history.symbol), lines, 'text/csv;charset=utf-8');
}
