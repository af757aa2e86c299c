/**
 * The file of a roster that was sent, beside the ledger, which has only its digest.
 *
 * @module
 */
import { numberFormats, PoolError, type TokenUnit } from '@pool/core';
import { computePayRunDigest } from '../ledger/pay-run-key.ts';
import type { NamedPayRun } from '../ledger/pay-run-ledger.ts';
import { parseRoster, type ReadInvited, type RosterEntry } from '../roster/roster-csv.ts';
import { readFurtherColumns } from '../roster/roster-further.ts';

export type PaidRoster = {
  readonly entries: readonly RosterEntry[];
  /** What the line of a recipient has in columns that the payment does not read. */
  furtherOf(recipient: string): Readonly<Record<string, string>> | undefined;
};

/**
 * The digest proves that the file is the one that was sent, and so also how its amounts are written.
 * @throws PoolError `invalid_roster`: it is another file
 */
export function readPaidRoster(
  text: string,
  { record, chain, token, payRun }: NamedPayRun,
  unit: TokenUnit,
  readInvited: ReadInvited,
): PaidRoster {
  for (const format of ['base-units', 'decimal', ...numberFormats] as const) {
    const { kind, entries } = parseRoster(text, { ...unit, format }, readInvited);
    if (
      kind === 'roster' &&
      computePayRunDigest({ chain, token, payRun, entries }) === record.digest
    ) {
      const further = readFurtherColumns(text);
      const lines = new Map(
        entries.map(({ recipientAddress, line = 0 }) => [recipientAddress.toLowerCase(), line]),
      );
      return {
        entries,
        furtherOf: (recipient) => further.get(lines.get(recipient.toLowerCase()) ?? 0),
      };
    }
  }
  throw new PoolError(
    'invalid_roster',
    `--roster: this is not the roster that was sent under ${payRun}: a line, an amount or a memo differs; give the file as it was sent`,
  );
}
