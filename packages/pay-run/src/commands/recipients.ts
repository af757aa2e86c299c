/**
 * Reports before payday which recipients of a roster are not ready, as text, as JSON and as CSV. It asks the platform, makes
 * no proof and no payment, and needs no running agent.
 *
 * @module
 */
import { renameSync, statSync, writeFileSync } from 'node:fs';
import { encodeCsvField, type NumberFormat, PoolError, parseEvmAddress } from '@pool/core';
import type { RecipientStanding } from '@pool/operations';
import { createRosterError } from '../check/roster-problems.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Output, Payer } from '../ports.ts';
import { chooseFormat } from '../roster/roster-amount.ts';
import { parseRoster } from '../roster/roster-csv.ts';
import { isStandardInput, readRosterText } from '../roster/roster-file.ts';
import { resolveTarget, type TargetOptions } from './pay-roster.ts';

export type RecipientsOptions = TargetOptions & {
  readonly file: string;
  readonly decimal?: boolean;
  readonly numberFormat?: NumberFormat;
  readonly json?: boolean;
  /** Path of the table. */
  readonly csv?: string;
};

/** One recipient of the roster and its present readiness. */
export type CheckedRecipient = RecipientStanding & {
  /** Line of the file, from 1. */
  readonly line: number | undefined;
};

/** @returns the exit code */
export async function checkRecipients(
  payer: Pick<Payer, 'chain' | 'readChains' | 'withChecks'>,
  options: RecipientsOptions,
  output: Output,
): Promise<number> {
  const { chain, token, decimals } = resolveTarget(options, payer);
  assertNotRoster(options);
  const unit = { decimals, symbol: token, format: chooseFormat(options) };
  const roster = parseRoster(readRosterText(options.file), unit);
  // Before payday amounts can be missing, but each recipient must be valid.
  const unclear = roster.mistakes.filter(({ column }) => column !== 'amount' && column !== 'memo');
  if (unclear.length > 0) {
    throw createRosterError(unclear);
  }
  const addresses = roster.entries.map(({ recipientAddress }) => parseEvmAddress(recipientAddress));
  const standings = await payer.withChecks(({ inspect }) => inspect(chain, addresses));
  const recipients = standings.map(
    (standing, index): CheckedRecipient => ({ ...standing, line: roster.entries[index]?.line }),
  );
  if (options.csv !== undefined) {
    writeTable(options.csv, encodeRecipientsCsv(recipients));
  }
  output.out(
    options.json === true
      ? createRecipientsDocument(chain, recipients)
      : [describeRecipients(recipients), ...describeOthers(roster.mistakes.length)].join('\n'),
  );
  return recipients.every(({ isReady }) => isReady) ? exitCodes.ok : exitCodes.someUnpaid;
}

function describeOthers(mistakes: number): readonly string[] {
  return mistakes === 0
    ? []
    : [
        `${mistakes} amount(s) or memo(s) have a problem; this command ignores them, "disburse --dry-run" names them`,
      ];
}

/** The table must not overwrite the roster. */
function assertNotRoster({ file, csv }: RecipientsOptions): void {
  if (csv === undefined || isStandardInput(file)) {
    return;
  }
  const [roster, table] = [file, csv].map((path) => statSync(path, { throwIfNoEntry: false }));
  if (roster !== undefined && roster.ino === table?.ino && roster.dev === table.dev) {
    throw new PoolError(
      'invalid_request',
      '--csv names the roster itself; choose another path for the table',
    );
  }
}

/** Writes the complete table or none, readable by its owner only: it lists the people of a payroll. */
function writeTable(path: string, text: string): void {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    renameSync(draft, path);
  } catch (cause) {
    throw new PoolError(
      'file_not_written',
      `the table cannot be written to ${path}; check the path after --csv`,
      { cause },
    );
  }
}

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
