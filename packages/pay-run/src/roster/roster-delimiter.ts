/**
 * The lines of a roster, and the separator of its columns, from its header (docs/decisions/0008). Spreadsheets write commas,
 * semicolons or tabs, depending on the language of the computer.
 *
 * @module
 */
import { quote } from '@pool/core';
import { parse } from 'csv-parse/sync';

// Reads one line of a roster. A field cannot contain a line break: two stray quotes would turn the lines between them into
// a memo, and their recipients would not be paid. So lines are parsed one by one, an open quote affects only its own
// line, and line numbers are those of an editor.

export type TextLine = {
  /** From 1. */
  readonly line: number;
  readonly text: string;
};

/** The lines that are not blank. Accepts the line ends of every system. */
export function splitLines(text: string): readonly TextLine[] {
  return text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)
    .map((line, index) => ({ line: index + 1, text: line }))
    .filter((line) => line.text.trim() !== '');
}

type ParsedLine =
  | { readonly kind: 'fields'; readonly fields: readonly string[] }
  | { readonly kind: 'mistake'; readonly message: string };

/** @param text - one line, without its end */
export function parseLine(text: string, delimiter: string): ParsedLine {
  try {
    const [fields = []] = parse(text, {
      delimiter,
      trim: true,
      relax_column_count: true,
      record_delimiter: '\n',
    });
    return { kind: 'fields', fields: fields.map((field) => field.trim()) };
  } catch (error) {
    return { kind: 'mistake', message: describeQuotes(error) };
  }
}

function describeQuotes(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'CSV_QUOTE_NOT_CLOSED'
    ? 'a quote is not closed on this line; close it, or write the memo on one line'
    : 'a quote is in the middle of a field; put the whole field in quotes and double each quote in it';
}

export const delimiters = [',', ';', '\t'] as const;
export type Delimiter = (typeof delimiters)[number];

export const delimiterNames: Readonly<Record<Delimiter, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
};

const columns = ['address', 'amount', 'memo'] as const;

export type Header =
  | {
      readonly kind: 'header';
      readonly delimiter: Delimiter;
      /** Columns, those included that are not read. */
      readonly width: number;
      /** Where each column is, from 0. */
      readonly places: {
        readonly address: number;
        readonly amount: number;
        readonly memo?: number;
      };
      /** Names of columns that are not read, as the file has them. */
      readonly unread: readonly string[];
    }
  | { readonly kind: 'mistake'; readonly message: string };

/** @param line - the first line of the file that is not blank */
export function parseHeader(line: string): Header {
  for (const delimiter of delimiters) {
    const names = readNames(line, delimiter);
    const [address, amount, memo] = columns.map((column) => names.indexOf(column));
    const twice = columns.find((column) => names.indexOf(column) !== names.lastIndexOf(column));
    if (address === undefined || amount === undefined || address < 0 || amount < 0) {
      continue;
    }
    if (twice !== undefined) {
      return {
        kind: 'mistake',
        message: `the header names the column ${twice} twice; remove one of them`,
      };
    }
    return {
      kind: 'header',
      delimiter,
      width: names.length,
      places: { address, amount, ...(memo === undefined || memo < 0 ? {} : { memo }) },
      unread: names.filter((name) => !columns.some((column) => column === name)),
    };
  }
  return { kind: 'mistake', message: describeHeader(line) };
}

/** The separator of a line `sep=;`, which Excel writes and reads as the first line; undefined: another line. */
export function parseSeparatorLine(line: string): Delimiter | undefined {
  const named = /^"?sep=(.)"?$/i.exec(line.trimStart())?.[1];
  return delimiters.find((delimiter) => delimiter === named);
}

function describeHeader(line: string): string {
  const expected =
    'the header must name the columns address and amount, and memo if there is one; further columns are not read';
  const used = delimiters.filter((delimiter) => line.includes(delimiter));
  const words = line
    .toLowerCase()
    .split(/[,;\t]/)
    .map((word) => word.trim().replace(/^"|"$/g, ''));
  const found = `the first line is ${quote(line)}`;
  if (used.length > 1 && words.every((word) => columns.some((name) => name === word))) {
    const names = used.map((delimiter) => delimiterNames[delimiter]).join(' and ');
    return `${found}, which is ambiguous: it has ${names}; use one of them in the whole file`;
  }
  if (words.some((word) => /^0x[0-9a-f]{40}$/.test(word))) {
    return `${found}, which is a recipient; ${expected}, on a line of its own before the recipients`;
  }
  return `${found}; ${expected}, separated by commas, semicolons or tabs`;
}

function readNames(line: string, delimiter: Delimiter): readonly string[] {
  const parsed = parseLine(line, delimiter);
  return parsed.kind === 'fields' ? parsed.fields.map((name) => name.toLowerCase()) : [];
}
