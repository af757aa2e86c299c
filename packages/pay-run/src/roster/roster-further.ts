/**
 * The columns of a roster that a payment does not read: they are kept for the books, by name.
 *
 * @module
 */
import { parseHeader, parseLine, parseSeparatorLine, splitLines } from './roster-delimiter.ts';

/**
 * @param text - a roster that was read before
 * @returns by line, from 1, what its fields in these columns are. Names are as the header writes them
 */
export function readFurtherColumns(
  text: string,
): ReadonlyMap<number, Readonly<Record<string, string>>> {
  const all = splitLines(text);
  const lines = all[0] !== undefined && parseSeparatorLine(all[0].text) ? all.slice(1) : all;
  const header = lines[0] === undefined ? undefined : parseHeader(lines[0].text);
  if (header?.kind !== 'header') {
    return new Map();
  }
  const { delimiter, places } = header;
  const fieldsOf = (line: string): readonly string[] => {
    const parsed = parseLine(line, delimiter);
    return parsed.kind === 'fields' ? parsed.fields : [];
  };
  const used = Object.values(places);
  const named = fieldsOf(lines[0]?.text ?? '').flatMap((name, place) =>
    used.includes(place) || name === '' ? [] : [{ name, place }],
  );
  return new Map(
    lines.slice(1).map(({ line, text: row }) => {
      const fields = fieldsOf(row);
      return [
        line,
        Object.fromEntries(named.map(({ name, place }) => [name, fields[place] ?? ''])),
      ];
    }),
  );
}
