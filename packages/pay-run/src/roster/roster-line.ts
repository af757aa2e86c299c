/**
 * Reads one line of a roster. A field cannot contain a line break: two stray quotes would turn the lines between them into
 * a memo, and their recipients would not be paid. So lines are parsed one by one, an open quote affects only its own
 * line, and line numbers are those of an editor.
 *
 * @module
 */
import { parse } from 'csv-parse/sync';

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

export type ParsedLine =
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
