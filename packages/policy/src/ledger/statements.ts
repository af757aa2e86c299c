/**
 * Prepared statements of one database, prepared once each. It also knows whether the present transaction has written anything.
 *
 * @module
 */
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { runInTransaction } from '@pool/storage';

export type Row = Record<string, SQLOutputValue>;

export type Statements = {
  get(sql: string, ...values: SQLInputValue[]): Row | undefined;
  all(sql: string, ...values: SQLInputValue[]): readonly Row[];
  /** @returns the number of rows that changed */
  run(sql: string, ...values: SQLInputValue[]): number;
  /**
   * One immediate transaction: all of its writes, or none.
   * @param beforeCommit - called if something was written
   */
  transact<T>(
    work: () => T,
    beforeCommit?: () => void,
  ): { readonly result: T; readonly hasWritten: boolean };
};

export function createStatements(database: DatabaseSync): Statements {
  const prepared = new Map<string, StatementSync>();
  let writes = 0;
  function prepare(sql: string): StatementSync {
    const known = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, known);
    return known;
  }
  return {
    get: (sql, ...values) => prepare(sql).get(...values),
    all: (sql, ...values) => prepare(sql).all(...values),
    run(sql, ...values) {
      const changes = Number(prepare(sql).run(...values).changes);
      writes += changes;
      return changes;
    },
    transact(work, beforeCommit) {
      const before = writes;
      const result = runInTransaction(database, () => {
        const value = work();
        if (writes > before) {
          beforeCommit?.();
        }
        return value;
      });
      return { result, hasWritten: writes > before };
    },
  };
}
