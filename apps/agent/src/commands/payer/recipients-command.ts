/**
 * `disburse-agent recipients check`: reports before payday which recipients of a roster are not ready. It asks the
 * platform, makes no proof and no payment, and needs no running agent.
 *
 * @module
 */
import { renameSync, statSync, writeFileSync } from 'node:fs';
import { type NumberFormat, PoolError, parseEvmAddress } from '@pool/core';
import {
  chooseFormat,
  createRosterError,
  exitCodes,
  isStandardInput,
  parseRoster,
  readRosterText,
} from '@pool/pay-run';
import { readConfig } from '../../config/config.ts';
import { withLocalChecks } from '../../services/local-checks.ts';
import type { Output } from '../../terminal/command-output.ts';
import { resolveTarget } from './disburse-target.ts';
import {
  type CheckedRecipient,
  createRecipientsDocument,
  describeRecipients,
  encodeRecipientsCsv,
} from './recipients-report.ts';

export type RecipientsOptions = {
  readonly file: string;
  readonly token?: string;
  readonly chain?: string;
  readonly decimal?: boolean;
  readonly numberFormat?: NumberFormat;
  readonly json?: boolean;
  /** Path of the table. */
  readonly csv?: string;
  readonly envFile?: string;
};

/** @returns the exit code */
export async function checkRecipients(options: RecipientsOptions, output: Output): Promise<number> {
  const config = readConfig(options.envFile);
  const { chain, token, decimals } = resolveTarget(options, config);
  assertNotRoster(options);
  const unit = { decimals, symbol: token, format: chooseFormat(options) };
  const roster = parseRoster(readRosterText(options.file), unit);
  // Before payday amounts can be missing, but each recipient must be valid.
  const unclear = roster.mistakes.filter(({ column }) => column !== 'amount' && column !== 'memo');
  if (unclear.length > 0) {
    throw createRosterError(unclear);
  }
  const addresses = roster.entries.map(({ recipientAddress }) => parseEvmAddress(recipientAddress));
  const standings = await withLocalChecks(config, ({ inspect }) => inspect(chain, addresses));
  const recipients = standings.map(
    (standing, index): CheckedRecipient => ({ ...standing, line: roster.entries[index]?.line }),
  );
  if (options.csv !== undefined) {
    writeTable(options.csv, encodeRecipientsCsv(recipients));
  }
  output.out(
    options.json === true
      ? JSON.stringify(createRecipientsDocument(chain, recipients), null, 2)
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
