/**
 * SQLite files that only their owner can read.
 *
 * @module
 */
import { chmodSync, closeSync, existsSync, fchmodSync, openSync } from 'node:fs';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { PoolError } from '@pool/core';
import { explainFullDisk } from './full-disk.ts';

/** Maximum wait of a statement for another process's write to the same file. The wait also blocks the renewal of leases. */
const busyTimeoutMs = 1_500;

/** Said of every store that a later version wrote, and that this one does not touch. */
export const laterVersion =
  'a later version of this program wrote it; run that version, or restore the backup from before the upgrade';

export type PrivateDatabase = {
  readonly database: DatabaseSync;
  /** All writes of `work`, or none. One transaction waits for the disk once, however many rows it writes. */
  inTransaction<T>(work: () => T): T;
};

/**
 * Makes the file of a database if it is missing, and takes the access of other users away. SQLite itself would create it readable by
 * every user.
 */
export function makePrivateFile(path: string): void {
  const file = openSync(path, 'a', 0o600);
  try {
    // An existing file keeps its mode otherwise, for example one that was copied back from a backup.
    fchmodSync(file, 0o600);
  } finally {
    closeSync(file);
  }
  for (const side of ['-wal', '-shm', '-journal'].map((suffix) => `${path}${suffix}`)) {
    if (existsSync(side)) {
      chmodSync(side, 0o600);
    }
  }
}

/**
 * @param path - a file, made 0600, or `:memory:`
 * @returns the database. It and its statements throw `disk_full`, which names the file, where there is no room for a write
 */
export function openNamedDatabase(path: string, timeoutMs: number): DatabaseSync {
  try {
    if (path !== ':memory:') {
      makePrivateFile(path);
    }
    return explainErrors(path, new DatabaseSync(path, { timeout: timeoutMs }));
  } catch (error) {
    throw explainFullDisk(path, error) ?? error;
  }
}

function explainErrors<T extends DatabaseSync | StatementSync>(path: string, target: T): T {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') {
        return value;
      }
      return (...parameters: readonly unknown[]): unknown => {
        try {
          const result: unknown = Reflect.apply(value, target, parameters);
          return result instanceof StatementSync ? explainErrors(path, result) : result;
        } catch (error) {
          throw explainFullDisk(path, error) ?? error;
        }
      };
    },
  });
}

/**
 * @param path - a file, made 0600, or `:memory:`
 * @param schema - `CREATE TABLE IF NOT EXISTS` statements. Tables that this version could not use would have a `PRAGMA user_version` of 1 or more
 * @throws PoolError `database_refused` for a file of a later version of this program; `disk_full`
 */
export function openPrivateDatabase(path: string, schema: string): PrivateDatabase {
  const database = openNamedDatabase(path, busyTimeoutMs);
  refuseLaterVersion(database, path);
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${schema}`);
  return {
    database,
    inTransaction: (work) => runInTransaction(database, work),
  };
}

/** Closes a database whose `user_version` no version up to this one writes. @throws PoolError `database_refused` */
export function refuseLaterVersion(database: DatabaseSync, path: string): void {
  if (Number(database.prepare('PRAGMA user_version').get()?.['user_version']) > 0) {
    database.close();
    throw new PoolError('database_refused', `${path}: ${laterVersion}`);
  }
}

/**
 * Runs `work` as one immediate transaction, which holds the write lock from the start. All of its writes, or none.
 * @throws `disk_full`, or the error of SQLite or of `work`
 */
export function runInTransaction<T>(database: DatabaseSync, work: () => T): T {
  try {
    database.exec('BEGIN IMMEDIATE');
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // SQLite itself ends a transaction for which there is no room.
    if (database.isTransaction) {
      database.exec('ROLLBACK');
    }
    throw explainFullDisk(database.location() ?? 'the database', error) ?? error;
  }
}
