/**
 * Entries of a history by month, for payslips.
 *
 * @module
 */
import type { HistoryEntry } from '@pool/api';

/** Money that somebody paid in: no change of the payee's own spends. */
export type PayslipEntry = Extract<HistoryEntry, { kind: 'received' }>;

export type Month = {
  /** For example `2026-11`. */
  readonly key: string;
  /** Newest first. */
  readonly payslips: readonly PayslipEntry[];
  /** Base units. */
  readonly total: bigint;
};

/**
 * @param entries - oldest first
 * @param timeZone - in which months begin, for example `Europe/Berlin`
 * @returns newest month first
 */
export function groupPayslips(
  entries: readonly HistoryEntry[],
  timeZone: string,
): readonly Month[] {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone, year: 'numeric', month: '2-digit' });
  const keyOf = ({ time }: PayslipEntry): string => {
    const found = parts.formatToParts(new Date(time));
    const read = (type: string) => found.find((part) => part.type === type)?.value ?? '';
    return `${read('year')}-${read('month')}`;
  };
  return [...Map.groupBy(listPayslips(entries), keyOf)].map(([key, payslips]) => ({
    key,
    payslips,
    total: payslips.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
  }));
}

/** Newest first. */
export function listPayslips(entries: readonly HistoryEntry[]): readonly PayslipEntry[] {
  return entries
    .filter((entry): entry is PayslipEntry => entry.kind === 'received' && !entry.isChange)
    .toReversed();
}
