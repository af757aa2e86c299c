/**
 * Parses a list of people to invite: a header that names the columns name or email, or both, in any order and among further columns;
 * commas, semicolons or tabs; one person per line. Finds every mistake in one pass, by line and column.
 *
 * The messages contain names and addresses. They are for the command's own terminal, never for a log.
 *
 * @module
 */
import { labelPattern, PoolError, quote } from '@pool/core';
import { delimiters, parseLine, splitLines } from './roster-delimiter.ts';

/** At least one of the two is present. */
export type Person = { readonly name?: string | undefined; readonly email?: string | undefined };

const columns = ['name', 'email'] as const;
type Column = (typeof columns)[number];

/** More are counted, not shown. */
const maxShown = 20;

/** @throws PoolError `invalid_roster` with a line of its message for each mistake */
export function parsePeople(text: string): readonly Person[] {
  const [first, ...rows] = splitLines(text);
  if (first === undefined) {
    throw refuse(['line 1: the file has only blank lines']);
  }
  const header = parseHeader(first.text);
  if (header === undefined) {
    throw refuse([
      `line ${first.line}: the first line is ${quote(first.text)}; it must name the columns name or email, or both, separated by commas, semicolons or tabs`,
    ]);
  }
  const mistakes: { readonly line: number; readonly text: string }[] = [];
  const people = rows.flatMap(({ line, text: row }) => {
    const parsed = parseLine(row, header.delimiter);
    if (parsed.kind === 'mistake') {
      mistakes.push({ line, text: `line ${line}: ${parsed.message}` });
      return [];
    }
    const { fields } = parsed;
    if (fields.every((field) => field === '')) {
      return [];
    }
    if (fields.length !== header.width) {
      mistakes.push({
        line,
        text: `line ${line}: has ${fields.length} fields, but the header names ${header.width}; write every field of the line, also an empty one`,
      });
      return [];
    }
    const person = createPerson((column) => fields[header.places[column]] ?? '');
    const problem = findPersonProblem(person);
    if (problem !== undefined) {
      mistakes.push({ line, text: `line ${line}, ${problem}` });
    }
    return [{ line, person }];
  });
  const firstLine = new Map<string, number>();
  for (const { line, person } of people) {
    const key = keyOfPerson(person);
    const earlier = firstLine.get(key);
    if (earlier !== undefined && key !== '') {
      const same = person.email === undefined ? 'name' : 'e-mail address';
      const text = `line ${line}: the same ${same} is on line ${earlier}; list each person once`;
      mistakes.push({ line, text });
    }
    firstLine.set(key, earlier ?? line);
  }
  if (people.length === 0 && mistakes.length === 0) {
    throw refuse([`line ${first.line}: there is no person below the header`]);
  }
  if (mistakes.length > 0) {
    mistakes.sort((left, right) => left.line - right.line);
    throw refuse(mistakes.map(({ text: mistake }) => mistake));
  }
  return people.map(({ person }) => person);
}

/** Empty texts are absent. */
export function createPerson(read: (column: Column) => string | undefined): Person {
  const given = columns.flatMap((column) => {
    const value = read(column)?.trim() ?? '';
    return value === '' ? [] : [[column, value] as const];
  });
  return Object.fromEntries(given);
}

/** @returns the column and what is wrong with it; undefined: nothing */
export function findPersonProblem({ name, email }: Person): string | undefined {
  if (name === undefined && email === undefined) {
    return 'name: name and email are missing; a person needs one of them';
  }
  if (name !== undefined && (name.length > 120 || !labelPattern.test(name))) {
    return `name: ${quote(name)} must have at most 120 characters, all of which people see`;
  }
  // Only what a typing mistake breaks: whether an address exists, its server knows.
  if (
    email !== undefined &&
    (email.length > 254 || !/^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)*$/.test(email))
  ) {
    return `email: ${quote(email)} is not an e-mail address`;
  }
  return undefined;
}

/** Two entries with one key are one person. */
export function keyOfPerson({ name, email }: Person): string {
  return (email ?? name ?? '').toLowerCase();
}

function parseHeader(line: string) {
  for (const delimiter of delimiters) {
    const parsed = parseLine(line, delimiter);
    const names = parsed.kind === 'fields' ? parsed.fields.map((name) => name.toLowerCase()) : [];
    const places = { name: names.indexOf('name'), email: names.indexOf('email') };
    const isOnce = columns.every((column) => names.lastIndexOf(column) === places[column]);
    if (isOnce && Math.max(places.name, places.email) >= 0) {
      return { delimiter, places, width: names.length };
    }
  }
  return undefined;
}

function refuse(mistakes: readonly string[]): PoolError {
  const shown = mistakes.slice(0, maxShown);
  const more =
    mistakes.length > maxShown ? [`and ${mistakes.length - maxShown} more mistakes`] : [];
  return new PoolError('invalid_roster', [...shown, ...more].join('\n'), {
    problems: mistakes.map((message) => ({ message })),
  });
}
