/**
 * One description of a table: its columns make the `CREATE TABLE`, the writes, and the reading of rows. A field `firstAtMs` is the column
 * `first_at_ms`. The values were parsed when they were written.
 *
 * @module
 */
import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { Row, Statements } from './statements.ts';

export type Column<T> = {
  /** Type and constraint in the `CREATE TABLE`. */
  readonly sql: string;
  /** What is read of it. Default: its value. */
  readonly select?: string;
  read(value: SQLOutputValue | undefined): T;
  write(value: T): SQLInputValue;
};

export type Columns<T> = { readonly [TField in keyof T]: Column<T[TField]> };

export type Table<T> = {
  readonly sql: string;
  /** Rows of `SELECT … FROM table` and this rest. */
  list(statements: Statements, rest: string, ...values: SQLInputValue[]): readonly T[];
  find(statements: Statements, rest: string, ...values: SQLInputValue[]): T | undefined;
  /** Every row, in the order of the key. */
  listAll(statements: Statements): readonly T[];
  /** The row that has the same key. */
  findSame(statements: Statements, entry: T): T | undefined;
  read(row: Row): T;
  /** @returns how many rows are new or changed */
  write(
    statements: Statements,
    how: 'INSERT' | 'INSERT OR IGNORE' | 'INSERT OR REPLACE',
    entry: T,
  ): number;
};

function nameColumn(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * @param key - fields of the primary key. Empty: a column has it
 * @param constraint - a further one of the table
 */
export function createTable<T extends object>(
  name: string,
  key: readonly (keyof T & string)[],
  columns: Columns<T>,
  constraint?: string,
): Table<T> {
  const fields = Object.keys(columns) as (keyof T & string)[];
  const names = fields.map(nameColumn).join(', ');
  const keyNames = key.map(nameColumn);
  const constraints = [
    ...(key.length === 0 ? [] : [`PRIMARY KEY (${keyNames.join(', ')})`]),
    ...(constraint === undefined ? [] : [constraint]),
  ];
  const selected = fields.map((field) => columns[field].select ?? nameColumn(field)).join(', ');
  const lines = fields.map((field) => `${nameColumn(field)} ${columns[field].sql}`);
  const bySameKey = `WHERE ${keyNames.map((one) => `${one} = ?`).join(' AND ')}`;

  function read(row: Row): T {
    const entries = fields.map((field) => [field, columns[field].read(row[nameColumn(field)])]);
    return Object.fromEntries(entries) as T;
  }

  const table: Table<T> = {
    sql: `CREATE TABLE ${name} (${[...lines, ...constraints].join(', ')}) STRICT;`,
    list: ({ all }, rest, ...values) =>
      all(`SELECT ${selected} FROM ${name} ${rest}`, ...values).map(read),
    find({ get }, rest, ...values) {
      const row = get(`SELECT ${selected} FROM ${name} ${rest}`, ...values);
      return row === undefined ? undefined : read(row);
    },
    listAll: (statements) => table.list(statements, `ORDER BY ${keyNames.join(', ')}`),
    findSame: (statements, entry) =>
      table.find(statements, bySameKey, ...key.map((field) => columns[field].write(entry[field]))),
    read,
    write: ({ run }, how, entry) =>
      run(
        `${how} INTO ${name} (${names}) VALUES (${fields.map(() => '?').join(', ')})`,
        ...fields.map((field) => columns[field].write(entry[field])),
      ),
  };
  return table;
}

/** Of the same value where there is one, and NULL for undefined. */
export function optional<T>({ sql, read, write }: Column<T>): Column<T | undefined> {
  return {
    sql: sql.replace(' NOT NULL', ''),
    read: (value) => (value === null || value === undefined ? undefined : read(value)),
    write: (value) => (value === undefined ? null : write(value)),
  };
}

/** Text that `parse` reads. */
export function textOf<T>(
  parse: (text: string) => T,
  write: (value: T) => string = String,
): Column<T> {
  return { sql: 'TEXT NOT NULL', read: (value) => parse(String(value)), write };
}

/** Written by this package only, from the union. */
export function unionText<T extends string>(): Column<T> {
  return textOf((text) => text as T);
}

export const text: Column<string> = textOf(String);
export const integer: Column<number> = { sql: 'INTEGER NOT NULL', read: Number, write: Number };
export const flag: Column<boolean> = {
  sql: 'INTEGER NOT NULL',
  read: (value) => value === 1,
  write: Number,
};
