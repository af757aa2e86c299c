/**
 * The recipients of a roster that are not ready to be paid, as text, as JSON and as CSV.
 *
 * @module
 */

import type { RecipientStanding } from '@pool/operations';
import { encodeCsvField } from '../../terminal/csv-field.ts';

/** One recipient of the roster and its present readiness. */
export type CheckedRecipient = RecipientStanding & {
  /** Line of the file, from 1. */
  readonly line: number | undefined;
};

export function describeRecipients(recipients: readonly CheckedRecipient[]): string {
  const missing = recipients.filter(({ isReady }) => !isReady);
  return [
    missing.length === 0
      ? `all ${recipients.length} recipient(s) are ready to be paid`
      : `${missing.length} of ${recipients.length} recipient(s) cannot be paid now`,
    ...missing.map(describeRecipient),
  ].join('\n');
}

function describeRecipient(recipient: CheckedRecipient): string {
  const { line, address, readiness, reason = '' } = recipient;
  const where = line === undefined ? '' : `line ${line}: `;
  const since = formatTime(recipient);
  const signedIn = since === undefined ? '' : `; signed in ${since}`;
  return `${where}${address}: ${readiness}: ${reason}${signedIn}; ${adviseOn(recipient)}`;
}

function adviseOn({ readiness }: CheckedRecipient): string {
  switch (readiness) {
    case 'not_enrolled':
      return 'ask them to sign in and enrol';
    case 'eligibility_pending':
      return 'wait for the pool-gate, or ask them to enrol again, which repeats its check';
    case 'eligibility_failed':
      return 'ask them to enrol again, which repeats the check of the pool-gate';
    case 'eligibility_disabled':
      return 'ask the operator of the platform for a pool-gate';
    case 'ready':
      return 'ask them to sign in again';
  }
}

/** The document of `--json`. */
export function createRecipientsDocument(
  chain: string,
  recipients: readonly CheckedRecipient[],
): object {
  return {
    chain,
    total: recipients.length,
    ready: recipients.filter(({ isReady }) => isReady).length,
    recipients: recipients.map((recipient) => {
      const { line, address, isReady, readiness, reason } = recipient;
      const signedInAt = formatTime(recipient);
      return {
        ...(line === undefined ? {} : { line }),
        address,
        ready: isReady,
        readiness,
        ...(reason === undefined ? {} : { reason }),
        ...(signedInAt === undefined ? {} : { signedInAt }),
      };
    }),
  };
}

const columns = ['line', 'address', 'ready', 'readiness', 'reason', 'signed_in_at'] as const;

/** The table of `--csv`, with a header. */
export function encodeRecipientsCsv(recipients: readonly CheckedRecipient[]): string {
  const rows = recipients.map((recipient) => [
    recipient.line?.toString() ?? '',
    recipient.address,
    recipient.isReady ? 'yes' : 'no',
    recipient.readiness,
    recipient.reason ?? '',
    formatTime(recipient) ?? '',
  ]);
  return [columns, ...rows].map((row) => `${row.map(encodeCsvField).join(',')}\r\n`).join('');
}

/** ISO 8601, in UTC. */
function formatTime({ signedInAtMs }: CheckedRecipient): string | undefined {
  return signedInAtMs === undefined ? undefined : new Date(signedInAtMs).toISOString();
}
