/**
 * One description of a table: its columns make the `CREATE TABLE`, the type of a row, the writes, and the reading of rows. A field
 * `firstAtMs` is the column `first_at_ms`. The values were parsed when they were written.
 *
 * @module
 */
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { runInTransaction } from '@pool/storage';

/** Prepared statements of one database, prepared once each. */
export type Statements = ReturnType<typeof createStatements>;

export function createStatements(database: DatabaseSync) {
  const prepared = new Map<string, StatementSync>();
  let writes = 0;
  function prepare(sql: string): StatementSync {
    const known = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, known);
    return known;
  }
  return {
    get: (sql: string, ...values: SQLInputValue[]) => prepare(sql).get(...values),
    all: (sql: string, ...values: SQLInputValue[]) => prepare(sql).all(...values),
    /** @returns the number of rows that changed */
    run(sql: string, ...values: SQLInputValue[]): number {
      const changes = Number(prepare(sql).run(...values).changes);
      writes += changes;
      return changes;
    },
    /**
     * One immediate transaction: all of its writes, or none.
     * @param beforeCommit - called if something was written
     */
    transact<T>(work: () => T, beforeCommit = (): void => undefined) {
      const before = writes;
      const result = runInTransaction(database, () => {
        const value = work();
        if (writes > before) {
          beforeCommit();
        }
        return value;
      });
      return { result, hasWritten: writes > before };
    },
  };
}

type Column<T> = {
  /** Type and constraint in the `CREATE TABLE`. */
  readonly sql: string;
  /** What is read of it. Default: its value. */
  readonly select?: string;
  read(value: SQLOutputValue | undefined): T;
  write(value: T): SQLInputValue;
};

type Columns = Readonly<Record<string, Column<unknown>>>;
type ValueOf<TColumn> = TColumn extends Column<infer T> ? T : never;

/** A row as it is read. */
export type RowOf<TColumns> = { readonly [TField in keyof TColumns]: ValueOf<TColumns[TField]> };

/** A row as it is written: what is left out is NULL. */
type Given<TRow> = {
  readonly [TField in keyof TRow as undefined extends TRow[TField] ? never : TField]: TRow[TField];
} & {
  readonly [TField in keyof TRow as undefined extends TRow[TField] ? TField : never]?: TRow[TField];
};

export type Table<TRow> = {
  readonly sql: string;
  /** Rows of `SELECT … FROM table` and this rest. */
  list(statements: Statements, rest: string, ...values: SQLInputValue[]): readonly TRow[];
  find(statements: Statements, rest: string, ...values: SQLInputValue[]): TRow | undefined;
  /** Every row, in the order of the key. */
  listAll(statements: Statements): readonly TRow[];
  /** The row that has the same key. */
  findSame(statements: Statements, entry: TRow): TRow | undefined;
  /** @returns how many rows are new or changed */
  write(
    statements: Statements,
    how: 'INSERT' | 'INSERT OR IGNORE' | 'INSERT OR REPLACE',
    entry: Given<TRow>,
  ): number;
};

function nameColumn(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * @param key - fields of the primary key. Empty: a column has it
 * @param constraint - a further one of the table
 */
export function createTable<TColumns extends Columns>(
  name: string,
  key: readonly (keyof TColumns & string)[],
  columns: TColumns,
  constraint?: string,
): Table<RowOf<TColumns>> {
  type Row = RowOf<TColumns>;
  const fields = Object.entries(columns);
  const names = fields.map(([field]) => nameColumn(field)).join(', ');
  const keyNames = key.map(nameColumn);
  const constraints = [
    ...(key.length === 0 ? [] : [`PRIMARY KEY (${keyNames.join(', ')})`]),
    ...(constraint === undefined ? [] : [constraint]),
  ];
  const selected = fields.map(([field, { select = nameColumn(field) }]) => select).join(', ');
  const lines = fields.map(([field, { sql }]) => `${nameColumn(field)} ${sql}`);
  const bySameKey = `WHERE ${keyNames.map((one) => `${one} = ?`).join(' AND ')}`;

  function read(row: Record<string, SQLOutputValue>): Row {
    const entries = fields.map(([field, column]) => [field, column.read(row[nameColumn(field)])]);
    return Object.fromEntries(entries) as Row;
  }

  const table: Table<Row> = {
    sql: `CREATE TABLE ${name} (${[...lines, ...constraints].join(', ')}) STRICT;`,
    list: ({ all }, rest, ...values) =>
      all(`SELECT ${selected} FROM ${name} ${rest}`, ...values).map(read),
    find: (...query) => table.list(...query)[0],
    listAll: (statements) => table.list(statements, `ORDER BY ${keyNames.join(', ')}`),
    findSame: (statements, entry) =>
      table.find(
        statements,
        bySameKey,
        ...key.map((field) => columns[field]?.write(entry[field]) ?? null),
      ),
    write: ({ run }, how, entry) =>
      run(
        `${how} INTO ${name} (${names}) VALUES (${fields.map(() => '?').join(', ')})`,
        ...fields.map(([field, column]) => column.write((entry as object as Row)[field])),
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
