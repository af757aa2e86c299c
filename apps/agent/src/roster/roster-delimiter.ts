/**
 * Detects the separator of a roster's columns from its header (docs/decisions/0022, §1). Spreadsheets write commas,
 * semicolons or tabs, depending on the language of the computer.
 *
 * @module
 */
import { parseLine } from './roster-line.ts';
import { quote } from './roster-quote.ts';

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
      /** Columns: 2, or 3 with a memo. */
      readonly width: number;
    }
  | { readonly kind: 'mistake'; readonly message: string };

/** @param line - the first line of the file that is not blank */
export function parseHeader(line: string): Header {
  for (const delimiter of delimiters) {
    const names = readNames(line, delimiter);
    const width = names.length;
    if ((width === 2 || width === 3) && names.every((name, index) => name === columns[index])) {
      return { kind: 'header', delimiter, width };
    }
  }
  return { kind: 'mistake', message: describeHeader(line) };
}

/** The separator of a line `sep=;`, which Excel writes and reads as the first line; undefined: another line. */
export function parseSeparatorLine(line: string): Delimiter | undefined {
  const named = /^"?sep=(.)"?$/i.exec(line.trimStart())?.[1];
  return delimiters.find((delimiter) => delimiter === named);
}

function describeHeader(line: string): string {
  const expected = 'the header must be address,amount or address,amount,memo';
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
