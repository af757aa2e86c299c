/**
 * `disburse-agent jobs export` and `pay-runs export <label>`: a line for each payee, for the books. Moves no money.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import {
  createStatementDocument,
  encodeStatementCsv,
  parseFiatRate,
  type StatementLine,
} from '@pool/statements';
import { addBlockTimes, type BlockTimes } from '../books/block-times.ts';
import { readPaidRoster } from '../books/paid-roster.ts';
import { listPayRunLines } from '../books/pay-run-lines.ts';
import { listPaymentLines } from '../books/payment-lines.ts';
import {
  decimalsOf,
  isInPeriod,
  type JobFilter,
  selectPayments,
} from '../books/select-payments.ts';
import { listStoredPayments, type StoredPayment } from '../books/stored-payments.ts';
import { exitCodes } from '../exit-codes.ts';
import { listAllPayRuns } from '../ledger/shared-ledger.ts';
import type { Output, Payer } from '../ports.ts';
import { writeNewFile } from '../report/new-file.ts';
import { readRosterText } from '../roster/roster-file.ts';
import { createReadInvited } from './pay-invited.ts';
import { resolveTarget } from './pay-roster.ts';
import { findOne } from './pay-runs.ts';

export type ExportOptions = JobFilter & {
  /** Default: `csv`. */
  readonly format?: 'csv' | 'json';
  /** Path of the roster as it was sent. */
  readonly roster?: string;
  /** The roster itself, as it was sent. Instead of its path. */
  readonly rosterText?: string | undefined;
  /** As {@link parseFiatRate} reads it. */
  readonly fiat?: string;
  /** Path of a new file. Absent: standard output. */
  readonly out?: string;
};

export type Books = Pick<Payer, 'ledger' | 'openAgent' | 'readChains'> &
  Pick<BlockTimes, 'openRecords'> & { readonly invitations: Pick<Payer['invitations'], 'find'> };

/**
 * @param name - a label needs the agent: without it nobody knows who was paid. A key, or none for all payments: the job store is read
 * @returns the exit code
 * @throws PoolError `not_found`, `invalid_request`, `invalid_roster`, `agent_unreachable`, `file_not_written`
 */
export async function exportLines(
  name: string | undefined,
  books: Books,
  options: ExportOptions,
  output: Output,
): Promise<number> {
  const fiat = options.fiat === undefined ? undefined : parseFiatRate(options.fiat);
  const { lines, isWhole } = await collectLines(name, books, options, output);
  const text =
    options.format === 'json'
      ? `${JSON.stringify(createStatementDocument(lines, { fiat }), null, 2)}\n`
      : encodeStatementCsv(lines, { fiat });
  if (options.out === undefined) {
    output.out(text.trimEnd());
  } else {
    writeNewFile(options.out, text);
    output.out(`${options.out}: ${lines.length} line(s)`);
  }
  const isDone = lines.every(({ state }) => state === 'paid' || state === 'dropped');
  return isDone && isWhole ? exitCodes.ok : exitCodes.someUnpaid;
}

type Collected = {
  readonly lines: readonly StatementLine[];
  /** Every payee is in the lines. */
  readonly isWhole: boolean;
};

/** As {@link exportLines}, without a file: also for receipts. */
export async function collectLines(
  name: string | undefined,
  books: Books,
  options: Omit<ExportOptions, 'format' | 'fiat' | 'out'>,
  output: Pick<Output, 'terminal'>,
): Promise<Collected> {
  const all = await listAllPayRuns(books.ledger);
  const stored = await listStoredPayments(books.ledger.jobs, all);
  const isKey = name === undefined || stored.some(({ key }) => key === name);
  const { lines, isWhole } = isKey
    ? listKnownLines(name, stored, books, options)
    : await listLabelLines(name, { all, stored }, books, options, output);
  const timed = await addBlockTimes(lines, books, output.terminal);
  return { lines: timed.filter((line) => isInPeriod(line.timeMs, options)), isWhole };
}

/** Of payments in the job store, without the times of their blocks. @param key - absent: all that the filter leaves */
export function listKnownLines(
  key: string | undefined,
  stored: readonly StoredPayment[],
  books: Pick<Books, 'readChains'>,
  options: JobFilter & Pick<ExportOptions, 'roster'>,
): Collected {
  if (options.roster !== undefined) {
    throw new PoolError('invalid_request', '--roster needs the label under which it was sent');
  }
  // A payment is in the period of its block, which is read later.
  const { from: _from, to: _to, ...filter } = options;
  const chosen = selectPayments(stored, key === undefined ? filter : {}).filter(
    (payment) => key === undefined || payment.key === key,
  );
  const lines = chosen.flatMap(({ record, job, key: own, state, place, createdAtMs }) => {
    if (record === undefined) {
      return [];
    }
    const { chain, tokenSymbol: symbol } = record;
    const unit = { symbol, ...decimalsOf(books, chain, symbol) };
    return listPaymentLines({ state, chain, unit, key: own, job, record, place, entries: [] }).map(
      (line) => (isInPeriod(createdAtMs, options) || line.state === 'paid' ? line : undefined),
    );
  });
  return { lines: lines.filter((line) => line !== undefined), isWhole: true };
}

async function listLabelLines(
  label: string,
  known: {
    readonly all: Awaited<ReturnType<typeof listAllPayRuns>>;
    readonly stored: readonly StoredPayment[];
  },
  books: Books,
  options: Pick<ExportOptions, 'roster' | 'rosterText' | 'chain' | 'token'>,
  { terminal }: Pick<Output, 'terminal'>,
): Promise<Collected> {
  const main = findOne(label, known.all, options);
  const { token: symbol, decimals } = resolveTarget(main, { ...books, chain: main.chain });
  const unit = { symbol, decimals };
  const { roster: path, rosterText } = options;
  const text = rosterText ?? (path === undefined ? undefined : readRosterText(path));
  const roster =
    text === undefined
      ? undefined
      : readPaidRoster(text, main, unit, createReadInvited(books.invitations));
  const { lines, unlisted } = await listPayRunLines(main, known.all, {
    ...{ client: books.openAgent(), stored: known.stored, unit, roster },
    invitations: books.invitations,
  });
  for (const part of unlisted) {
    terminal.write(
      `note: the table lacks the people of ${part}: ledger and job store do not have them; --roster <csv> adds them, from the file as it was sent\n`,
    );
  }
  if (roster === undefined && lines.some(({ amount }) => amount === undefined)) {
    terminal.write(
      'note: the amounts of people who were not sent to the chain are only in the roster: --roster <csv> adds them, from the file as it was sent\n',
    );
  }
  return { lines, isWhole: unlisted.length === 0 };
}
