/**
 * The Idempotency-Keys of a roster file: the same roster under the same pay-run label is the same payment, however often
 * the command runs, whole or in parts (docs/decisions/0008).
 *
 * @module
 */
import { assertNoFieldLeft, canonicalDigest, type Hex32 } from '@pool/core';
import type { RosterEntry } from '../roster/roster-csv.ts';

/** A payment: its recipients, its label, its chain and its token. */
export type PayRun = {
  readonly chain: string;
  readonly token: string;
  /** The label in its normal form. */
  readonly payRun: string;
  readonly entries: readonly RosterEntry[];
  /**
   * The roster as it is written, if it names invited people: `entries` are those who are paid first. The key binds the roster, so it is the
   * same whoever has enrolled when the command runs again.
   */
  readonly whole?: readonly RosterEntry[];
  /** Of a later payment of such a roster ({@link computeRoundDigest}), which is made without the file. */
  readonly digest?: Hex32;
};

/** In the order of addresses. The order of lines does not matter. */
function sortRoster(entries: readonly RosterEntry[]): readonly RosterEntry[] {
  return [...entries].sort(({ recipientAddress: left }, { recipientAddress: right }) =>
    left < right ? -1 : left > right ? 1 : 0,
  );
}

/** Covers every amount and memo. Line order, spelling of addresses and file format do not matter. */
export function computePayRunDigest(parts: PayRun): Hex32 {
  if (parts.digest !== undefined) {
    return parts.digest;
  }
  const roster = sortRoster(parts.whole ?? parts.entries).map(listDigestedFields);
  return canonicalDigest(['pool/v1/pay-run', parts.chain, parts.token, parts.payRun, roster]);
}

/**
 * Of a payment to people who were held back. It does not bind who they are: the ledger does, and without the ledger the key is still not
 * paid to others.
 * @param digest - of the whole roster
 * @param round - from 2
 */
export function computeRoundDigest(digest: string, round: number): Hex32 {
  return canonicalDigest(['pool/v1/pay-run-round', digest, round]);
}

/** The label of a payment to people who were held back. @param round - from 2 */
export function formatRound(payRun: string, round: number): string {
  return `${payRun}#${round}`;
}

/** A field that is missing here would let two different payments share a key. */
function listDigestedFields(entry: RosterEntry): readonly string[] {
  const { recipientAddress, amount, memo, line: _line, ...rest } = entry;
  assertNoFieldLeft(rest);
  return [recipientAddress, amount, memo ?? ''];
}

/** One attempt at one part of a pay run. */
export type PartName = {
  readonly payRun: string;
  /** {@link computePayRunDigest} of the whole roster. It binds chain, token and label too. */
  readonly digest: string;
  /** From 1. */
  readonly part: number;
  /** Digest and count together determine the recipients of each part ({@link cutRoster}). */
  readonly count: number;
  /** From 1. A further attempt exists only after a job that failed. */
  readonly attempt: number;
};

/** The first attempt at a roster of one part has the key of a roster that is paid whole. */
export function computePartKey({ payRun, digest, part, count, attempt }: PartName): string {
  return count === 1 && attempt === 1
    ? formatKey(payRun, digest)
    : formatKey(
        `${payRun}-${part}of${count}`,
        canonicalDigest(['pool/v1/pay-run-part', digest, part, count, attempt]),
      );
}

/**
 * Parts of almost equal size, in the order of addresses. They follow from roster and count alone, and not from the
 * ceiling, so a key that binds roster and count always means the same recipients.
 * @param count - 1 to the number of entries
 */
export function cutRoster(
  entries: readonly RosterEntry[],
  count: number,
): readonly (readonly RosterEntry[])[] {
  const sorted = sortRoster(entries);
  const size = Math.floor(sorted.length / count);
  const larger = sorted.length % count;
  return Array.from({ length: count }, (_, index) => {
    const start = index * size + Math.min(index, larger);
    return sorted.slice(start, start + size + (index < larger ? 1 : 0));
  });
}

function formatKey(name: string, digest: string): string {
  return `${name.replaceAll(' ', '-')}-${digest.slice(2, 34)}`;
}
