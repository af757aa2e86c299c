/**
 * The Idempotency-Keys of a roster file: the same roster under the same pay-run label is the same payment,
 * however often the command runs, in one part or in many (docs/decisions/0009, §6 and §9).
 *
 * @module
 */
import { canonicalDigest, type Hex32 } from '@pool/core';
import type { RosterEntry } from '../roster/roster-csv.ts';

/** What a payment is: the people, what it is called, and where it happens. */
export type PayRun = {
  readonly chain: string;
  readonly token: string;
  /** The label, as its keys spell it: the normal form, except for payments of earlier versions. */
  readonly payRun: string;
  readonly entries: readonly RosterEntry[];
};

/** In the order of addresses, whatever the order of lines was. */
function sortRoster(entries: readonly RosterEntry[]): readonly RosterEntry[] {
  return [...entries].sort(({ recipientAddress: left }, { recipientAddress: right }) =>
    left < right ? -1 : left > right ? 1 : 0,
  );
}

/** Line order, spelling of addresses and file format do not matter; every amount and memo does. */
export function computePayRunDigest(parts: PayRun): Hex32 {
  const roster = sortRoster(parts.entries).map(({ recipientAddress, amount, memo }) => [
    recipientAddress,
    amount,
    memo ?? '',
  ]);
  return canonicalDigest(['pool/v1/pay-run', parts.chain, parts.token, parts.payRun, roster]);
}

/** One attempt at one part of a pay run. */
export type PartName = {
  readonly payRun: string;
  /** Of the whole roster, {@link computePayRunDigest}: it binds chain, token and label too. */
  readonly digest: string;
  /** From 1. */
  readonly part: number;
  /** With the digest, this says who is in which part ({@link cutRoster}). */
  readonly count: number;
  /** From 1; a further one only after a job that failed. */
  readonly attempt: number;
};

/** The first attempt at a roster that is one part has the key of a roster that is paid whole. */
export function computePartKey({ payRun, digest, part, count, attempt }: PartName): string {
  return count === 1 && attempt === 1
    ? formatKey(payRun, digest)
    : formatKey(
        `${payRun}-${part}of${count}`,
        canonicalDigest(['pool/v1/pay-run-part', digest, part, count, attempt]),
      );
}

/**
 * Parts as equal as can be, in the order of addresses. They follow from roster and count alone, not from the
 * ceiling, so that a key that binds both can only ever mean the same people.
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
