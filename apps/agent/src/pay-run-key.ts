/**
 * The Idempotency-Key of a roster file: the same roster under the same pay-run label is the same payment,
 * however often the command runs (docs/decisions/0009).
 *
 * @module
 */
import { canonicalDigest, PoolError } from '@pool/core';
import type { RosterEntry } from './roster-csv.ts';

const labelPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** @throws PoolError `invalid_pay_run` */
export function parsePayRun(label: string): string {
  if (!labelPattern.test(label)) {
    throw new PoolError(
      'invalid_pay_run',
      '--pay-run takes 1 to 64 letters, digits, dots, dashes or underscores, for example 2026-11',
    );
  }
  return label;
}

/** Line order, spelling of addresses and file format do not matter; every amount and memo does. */
export function computePayRunKey(parts: {
  readonly chain: string;
  readonly token: string;
  readonly payRun: string;
  readonly entries: readonly RosterEntry[];
}): string {
  const roster = parts.entries
    .map(({ recipientAddress, amount, memo }) => [recipientAddress, amount, memo ?? ''])
    .sort(([left = ''], [right = '']) => (left < right ? -1 : left > right ? 1 : 0));
  const digest = canonicalDigest([
    'pool/v1/pay-run',
    parts.chain,
    parts.token,
    parts.payRun,
    roster,
  ]);
  return `${parts.payRun}-${digest.slice(2, 34)}`;
}
