/**
 * Tables that are described once: from a description come the statements that make it and the types of its rows.
 *
 * @module
 */
import type { Generated, GeneratedAlways } from 'kysely';

declare const column: unique symbol;

/** SQL of a column whose values have a narrower type than its words tell: `T`, as Kysely has it. */
type Typed<T> = string & { readonly [column]: T };

/** The SQL behind the name of each column of each table. */
type Tables = Readonly<Record<string, Readonly<Record<string, string>>>>;

type ValueOf<Sql> =
  | (Sql extends `text${string}` ? string : Sql extends `boolean${string}` ? boolean : number)
  | (Sql extends `${string}${'not null' | 'primary key'}${string}` ? never : null);

/** An insert may leave out a nullable column as well. */
type ColumnOf<Sql> = Sql extends { readonly [column]: infer T }
  ? T
  : Sql extends `${string} stored`
    ? GeneratedAlways<ValueOf<Sql>>
    : Sql extends `${string} ${'default' | 'generated'} ${string}`
      ? Generated<ValueOf<Sql>>
      : ValueOf<Sql>;

/** The types of described tables, for Kysely. */
export type TablesOf<T extends Tables> = {
  [Name in keyof T]: { [Column in keyof T[Name]]: ColumnOf<T[Name][Column]> };
};

/** A column whose values have the type `T`. */
export function typed<T>(sql: string): Typed<T> {
  return sql as Typed<T>;
}

export function describeTables<const T extends Tables>(tables: T): T {
  return tables;
}

/** The statements that make the tables, in their order. */
export function createTables(tables: Tables): string[] {
  return Object.entries(tables).map(([name, columns]) => {
    const parts = Object.entries(columns).map(([column, sql]) => `${column} ${sql}`);
    return `create table ${name} (${parts.join(', ')})`;
  });
}

/** What every service has, for the processes that share its database. */
export const sharedTables = describeTables({
  /** Keys that the service made for itself, hex. A backup has them together with what was made with them. */
  service_keys: { name: 'text primary key', value: 'text not null' },
  /** The number of the term of each leader (leaders.ts). */
  leaders: { role: 'text primary key', epoch: 'integer not null' },
  /** When the bucket of each limit and caller is full (shared-limiter.ts). */
  rate_limits: { caller: 'text primary key', full_at: typed<Date>('timestamptz not null') },
});
