/**
 * The rows of a roster that cannot be paid, for the program or the person who made them.
 *
 * @module
 */
import { encodeCsvField } from '@pool/core';
import { parseHeader, parseLine, parseSeparatorLine, splitLines } from './roster-delimiter.ts';

type RowProblem = {
  /** From 1. */
  readonly line?: number;
  readonly column?: string;
  readonly message: string;
};

/**
 * A CSV table: the line and its problems, then the fields of the row as the file has them.
 * @param text - the file. @param problems - those without a line concern no row, and are left out
 */
export function encodeWrongRows(text: string, problems: readonly RowProblem[]): string {
  const lines = splitLines(text);
  const [first, second] = lines;
  const head = first !== undefined && parseSeparatorLine(first.text) !== undefined ? second : first;
  const header = parseHeader(head?.text ?? '');
  const delimiter = header.kind === 'header' ? header.delimiter : ',';
  const fieldsOf = (row: string): readonly string[] => {
    const parsed = parseLine(row, delimiter);
    return parsed.kind === 'fields' ? parsed.fields : [row];
  };
  const reasons = Map.groupBy(problems, ({ line }) => line);
  const rows = lines.flatMap(({ line, text: row }) => {
    const found = reasons.get(line);
    const reason = found?.map(({ column, message }) => `${column ?? 'row'}: ${message}`).join('; ');
    return reason === undefined ? [] : [[String(line), reason, ...fieldsOf(row)]];
  });
  return [['line', 'problem', ...fieldsOf(head?.text ?? '')], ...rows]
    .map((fields) => `${fields.map(encodeCsvField).join(',')}\r\n`)
    .join('');
}

/** The same file with the header and these lines only. */
export function pickRows(text: string, wanted: ReadonlySet<number>): string {
  const lines = splitLines(text);
  const heads = lines[0] !== undefined && parseSeparatorLine(lines[0].text) !== undefined ? 2 : 1;
  return lines
    .filter(({ line }, index) => index < heads || wanted.has(line))
    .map(({ text: row }) => row)
    .join('\n');
}
