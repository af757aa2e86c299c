/**
 * How a roster differs from the last pay run of its kind.
 *
 * @module
 */
import type { PayRunView, RosterEntry } from '@pool/pay-run';

export type Comparison = {
  /** Label of the pay run that it is compared with. */
  readonly last: string;
  /** Of the roster, and not paid then. */
  readonly added: readonly RosterEntry[];
  /** Paid then, and not in the roster. */
  readonly missing: readonly { readonly recipientAddress: string; readonly amount: string }[];
  /** Amounts that differ by more than the percentage. `before` is in base units. */
  readonly changed: readonly { readonly entry: RosterEntry; readonly before: string }[];
};

/** Labels that differ in digits only are of one kind: 2026-10 and 2026-11. */
export function isSameKind(label: string, other: string): boolean {
  const kindOf = (text: string): string => text.replaceAll(/\d+/g, '0');
  return label !== other && kindOf(label) === kindOf(other);
}

/** The period that a label names, such as 2026-11; undefined: none. */
export function findPeriod(label: string): string | undefined {
  return /(?<!\d)\d{4}-(?:0[1-9]|1[0-2])(?!\d)/.exec(label)?.[0];
}

/**
 * @param views - the newest first. @param percent - 0 or more
 * @returns undefined: no pay run of this kind has paid anybody
 */
export function compareWithLast(
  label: string,
  entries: readonly RosterEntry[],
  views: readonly PayRunView[],
  percent: number,
): Comparison | undefined {
  for (const { payRun, parts } of views) {
    const notes = parts.flatMap(({ job }) =>
      job?.result?.status === 'completed' ? job.result.notes : [],
    );
    if (isSameKind(payRun, label) && notes.length > 0) {
      return compare(payRun, entries, notes, percent);
    }
  }
  return undefined;
}

function compare(
  last: string,
  entries: readonly RosterEntry[],
  notes: readonly { readonly recipientAddress: string; readonly amount: string }[],
  percent: number,
): Comparison {
  const idOf = ({ recipientAddress }: { readonly recipientAddress: string }): string =>
    recipientAddress.toLowerCase();
  const before = new Map(notes.map((note) => [idOf(note), note.amount]));
  const now = new Set(entries.map(idOf));
  return {
    last,
    added: entries.filter((entry) => !before.has(idOf(entry))),
    missing: notes.filter((note) => !now.has(idOf(note))),
    changed: entries.flatMap((entry) => {
      const amount = before.get(idOf(entry));
      return amount !== undefined && differsByMore(amount, entry.amount, percent)
        ? [{ entry, before: amount }]
        : [];
    }),
  };
}

function differsByMore(before: string, after: string, percent: number): boolean {
  const [one, other] = [BigInt(before), BigInt(after)];
  const difference = one > other ? one - other : other - one;
  // In thousandths of a percent, because percentages have decimals.
  return difference * 100_000n > one * BigInt(Math.round(percent * 1_000));
}
