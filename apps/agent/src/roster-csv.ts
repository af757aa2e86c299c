/**
 * Reads a roster (docs/decisions/0009): header `address,amount[,memo]`, one recipient a line.
 * Finds every mistake in one pass, by line and column.
 *
 * @module
 */
import {
  isPoolError,
  maxMemoBytes,
  PoolError,
  parseAmount,
  parseEvmAddress,
  parseTokenUnits,
} from '@pool/core';
import { type Info, parse } from 'csv-parse/sync';

export type RosterEntry = {
  readonly recipientAddress: string;
  /** Base units, canonical decimal. */
  readonly amount: string;
  readonly memo?: string;
};

export type RosterMistake = {
  /** From 1, as an editor counts. */
  readonly line: number;
  readonly column: 'address' | 'amount' | 'memo' | 'header' | 'row';
  readonly message: string;
};

export type Roster =
  | { readonly kind: 'roster'; readonly entries: readonly RosterEntry[] }
  | { readonly kind: 'mistakes'; readonly mistakes: readonly RosterMistake[] };

export type RosterOptions = {
  /** Amounts are in token units with up to this many decimals; absent: base units. */
  readonly decimals?: number;
};

const columns = ['address', 'amount', 'memo'] as const;

type Line = { readonly record: readonly string[]; readonly info: Info };

export function parseRoster(text: string, options: RosterOptions = {}): Roster {
  let lines: readonly Line[];
  try {
    lines = parse(text, {
      bom: true,
      info: true,
      trim: true,
      skip_empty_lines: true,
      skip_records_with_empty_values: true,
      relax_column_count: true,
      record_delimiter: ['\r\n', '\n', '\r'],
    }) as unknown as readonly Line[];
  } catch (error) {
    return mistaken([
      { line: lineOf(error), column: 'row', message: 'a quoted field is not closed' },
    ]);
  }
  const [header, ...rows] = lines;
  const names = (header?.record ?? []).map((name) => name.toLowerCase());
  const isHeader =
    (names.length === 2 || names.length === 3) &&
    names.every((name, index) => name === columns[index]);
  if (!isHeader) {
    return mistaken([
      {
        line: header?.info.lines ?? 1,
        column: 'header',
        message: 'the first line must be: address,amount or address,amount,memo',
      },
    ]);
  }
  if (rows.length === 0) {
    return mistaken([{ line: 1, column: 'row', message: 'the roster lists nobody' }]);
  }
  const mistakes: RosterMistake[] = [];
  const entries = rows.map((row) => parseRow(row, names.length, options, mistakes));
  findDuplicates(rows, entries, mistakes);
  return mistakes.length > 0
    ? mistaken(mistakes.sort((left, right) => left.line - right.line))
    : { kind: 'roster', entries };
}

function parseRow(
  row: Line,
  width: number,
  options: RosterOptions,
  mistakes: RosterMistake[],
): RosterEntry {
  const line = row.info.lines;
  const note = (column: RosterMistake['column'], message: string): void => {
    mistakes.push({ line, column, message });
  };
  if (row.record.length > width) {
    note('row', `has ${row.record.length} fields where the header names ${width}; quote commas`);
  }
  const [address = '', amount = '', memo = ''] = row.record;
  const attempt = (column: 'address' | 'amount', work: () => string): string => {
    try {
      return work();
    } catch (error) {
      if (!isPoolError(error)) {
        throw error;
      }
      note(column, error.message);
      return '';
    }
  };
  if (Buffer.byteLength(memo) > maxMemoBytes) {
    note('memo', `memo is longer than ${maxMemoBytes} bytes`);
  }
  if (/[\r\n]/.test(memo)) {
    // Two stray quotes make the lines between them part of a memo, and nobody on them is paid.
    note(
      'memo',
      'the memo that ends here begins on an earlier line: close its quote, or write it on one line',
    );
  }
  return {
    recipientAddress: attempt('address', () => parseEvmAddress(address)),
    amount: attempt('amount', () =>
      (options.decimals === undefined
        ? parseAmount(amount)
        : parseTokenUnits(amount, options.decimals)
      ).toString(),
    ),
    ...(memo === '' ? {} : { memo }),
  };
}

function findDuplicates(
  rows: readonly Line[],
  entries: readonly RosterEntry[],
  mistakes: RosterMistake[],
): void {
  const firstLine = new Map<string, number>();
  for (const [index, { recipientAddress }] of entries.entries()) {
    const line = rows[index]?.info.lines ?? 0;
    const earlier = firstLine.get(recipientAddress);
    if (recipientAddress !== '' && earlier !== undefined) {
      mistakes.push({
        line,
        column: 'address',
        message: `the same address already stands on line ${earlier}`,
      });
    }
    firstLine.set(recipientAddress, earlier ?? line);
  }
}

function mistaken(mistakes: readonly RosterMistake[]): Roster {
  return { kind: 'mistakes', mistakes };
}

function lineOf(error: unknown): number {
  return error instanceof Error && 'lines' in error && typeof error.lines === 'number'
    ? error.lines
    : 1;
}

/** All mistakes as one error for people. */
export function createRosterError(file: string, mistakes: readonly RosterMistake[]): PoolError {
  const lines = mistakes.map(
    ({ line, column, message }) => `${file}:${line}: ${column}: ${message}`,
  );
  return new PoolError('invalid_roster', lines.join('\n'));
}
