/**
 * A small SQLite file in the agent's directory that only its owner can read.
 *
 * @module
 */
import { chmodSync, closeSync, existsSync, fchmodSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Maximum wait of a statement for another agent's write to the same file. The wait also blocks the renewal of leases. */
const busyTimeoutMs = 1_500;

export type PrivateDatabase = {
  readonly database: DatabaseSync;
  /** All writes of `work`, or none. One transaction waits for the disk once, however many rows it writes. */
  inTransaction<T>(work: () => T): T;
};

/**
 * Makes the file of a database if it is missing, and takes the access of other users away. SQLite itself would create it readable by
 * every user, and these files name the people of a payroll.
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
 * @param schema - `CREATE TABLE IF NOT EXISTS` statements
 */
export function openPrivateDatabase(path: string, schema: string): PrivateDatabase {
  if (path !== ':memory:') {
    makePrivateFile(path);
  }
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${schema}`);
  return {
    database,
    inTransaction(work) {
      database.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        database.exec('COMMIT');
        return result;
      } catch (error) {
        database.exec('ROLLBACK');
        throw error;
      }
    },
  };
}
