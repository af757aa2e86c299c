/**
 * The summary of a payment before money moves: the number of recipients, the total, the largest amount, and who is skipped
 * (docs/decisions/0008). Amounts are in token units, because a wrong factor of a million is hard to see in
 * base units.
 *
 * @module
 */
import { formatTokenUnits, type SkippedRecipient } from '@pool/core';
import type { RosterEntry } from '../roster/roster-csv.ts';

/** A recipient of the roster who is not paid. */
export type SkippedEntry = {
  /** Line of the file, from 1. Absent: it was not read from a file. */
  readonly line?: number;
  readonly recipientAddress: string;
  readonly code: string;
  readonly message: string;
};

/** The payment that is about to be sent. */
export type PendingPayment = {
  readonly chain: string;
  readonly token: string;
  readonly payRun: string;
  /** The recipients of this run, without those of earlier runs. */
  readonly entries: readonly RosterEntry[];
  /** The recipients among `entries` that `--unregistered skip` leaves out. */
  readonly skipped: readonly SkippedEntry[];
  /** Number of calls. */
  readonly parts: number;
};

/**
 * The recipients that the agent skipped or would skip, with their lines in the file. They are found by address, because
 * the job of an earlier run may have listed them in another order.
 */
export function locateSkipped(
  entries: readonly RosterEntry[],
  skipped: readonly SkippedRecipient[] = [],
): readonly SkippedEntry[] {
  const lines = new Map(entries.map((entry) => [entry.recipientAddress.toLowerCase(), entry.line]));
  return skipped.map(({ recipientAddress, code, message }) => {
    const line = lines.get(recipientAddress.toLowerCase());
    return {
      ...(line === undefined ? {} : { line }),
      recipientAddress,
      code,
      // The author of the file does not know positions in the request.
      message: message.replace(/^recipients\[[0-9]+\]: /, ''),
    };
  });
}

/** For `--json`. Amounts in base units and in token units. */
export function summarizePayment(payment: PendingPayment, decimals: number): object {
  const { paid, total, largest } = sumUp(payment);
  return {
    recipients: paid.length,
    total: total.toString(),
    largest: (largest?.amount ?? 0n).toString(),
    inTokenUnits: {
      total: formatTokenUnits(total, decimals),
      largest: formatTokenUnits(largest?.amount ?? 0n, decimals),
    },
  };
}

/** For people, one line per fact. */
export function describePayment(payment: PendingPayment, decimals: number): readonly string[] {
  const { chain, token, payRun, parts, skipped } = payment;
  const { paid, total, largest } = sumUp(payment);
  const inUnits = (amount: bigint): string => `${formatTokenUnits(amount, decimals)} ${token}`;
  const inParts = parts > 1 ? ` in ${parts} parts` : '';
  return [
    `pay run ${payRun} on ${chain}: ${paid.length} recipient(s)${inParts}, ${inUnits(total)} in total`,
    ...(largest === undefined
      ? []
      : [
          `  largest: ${inUnits(largest.amount)} to ${largest.entry.recipientAddress}${formatLine(largest.entry)}`,
        ]),
    ...describeSkipped(skipped).map((line) => `  ${line}`),
  ];
}

/** One line per recipient. */
export function describeSkipped(skipped: readonly SkippedEntry[]): readonly string[] {
  return skipped.map(
    ({ line, recipientAddress, message }) =>
      `skipped ${line === undefined ? '' : `line ${line}: `}${recipientAddress}: ${message}`,
  );
}

function formatLine({ line }: { readonly line?: number }): string {
  return line === undefined ? '' : ` (line ${line})`;
}

function sumUp({ entries, skipped }: PendingPayment): {
  readonly paid: readonly RosterEntry[];
  readonly total: bigint;
  readonly largest: { readonly entry: RosterEntry; readonly amount: bigint } | undefined;
} {
  const left = new Set(skipped.map(({ recipientAddress }) => recipientAddress.toLowerCase()));
  const paid = entries.filter(({ recipientAddress }) => !left.has(recipientAddress.toLowerCase()));
  let total = 0n;
  let largest: { readonly entry: RosterEntry; readonly amount: bigint } | undefined;
  for (const entry of paid) {
    const amount = BigInt(entry.amount);
    total += amount;
    if (largest === undefined || amount > largest.amount) {
      largest = { entry, amount };
    }
  }
  return { paid, total, largest };
}
