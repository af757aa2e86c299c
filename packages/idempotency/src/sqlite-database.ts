/**
 * Opens the job database: private files, durable settings, schema version. One file has one writer at a time and any number of
 * processes on one machine.
 *
 * @module
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isPoolError } from '@pool/core';
import {
  explainFullDisk,
  laterVersion,
  makePrivateFile,
  resultCodeOf,
  runInTransaction as run,
} from '@pool/storage';
import { StoreError } from './store-error.ts';

const schemaVersion = 1;

const schema = `
  CREATE TABLE job (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    state TEXT NOT NULL,
    payload TEXT NOT NULL,
    fence INTEGER NOT NULL,
    worker TEXT,
    lease_until_ms INTEGER,
    erased INTEGER NOT NULL DEFAULT 0,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    UNIQUE (scope, key)
  ) STRICT;
  CREATE INDEX job_by_state ON job (state, created_at_ms, id);
  CREATE TABLE value (
    job_id INTEGER NOT NULL REFERENCES job (id),
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (job_id, name)
  ) STRICT, WITHOUT ROWID;
  PRAGMA user_version = ${String(schemaVersion)};
`;

/**
 * @param busyTimeoutMs - how long a statement waits for the transaction of another process
 * @param path - the file. Missing folders are created with mode 0700, the file with mode 0600
 * @throws StoreError `invalid_store` if it cannot be opened or another version wrote it; `disk_full`
 */
export function openDatabase(path: string, busyTimeoutMs: number): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // The file must exist with its mode before SQLite writes to it: -wal and -shm take the file's mode.
    makePrivateFile(path);
    database = new DatabaseSync(path, {
      timeout: busyTimeoutMs,
      enableForeignKeyConstraints: true,
    });
    // FULL: an acknowledged write survives a power failure. secure_delete: erased salaries are overwritten in the file.
    database.exec('PRAGMA secure_delete = ON; PRAGMA synchronous = FULL;');
    enableWal(database);
    migrate(database);
    return database;
  } catch (cause) {
    database?.close();
    if (isPoolError(cause)) {
      throw cause;
    }
    throw (
      explainFullDisk(path, cause) ??
      new StoreError('invalid_store', 'the job store file cannot be opened as a database', cause)
    );
  }
}

// Two processes that open a new file at once can get SQLITE_BUSY here immediately: SQLite does not wait for a lock upgrade,
// because that could deadlock.
function enableWal(database: DatabaseSync): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      database.exec('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (!isBusyError(error) || attempt === 200) {
        throw error;
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 25);
    }
  }
}

function migrate(database: DatabaseSync): void {
  runInTransaction(database, () => {
    const version = database.prepare('PRAGMA user_version').get()?.['user_version'];
    if (version === 0) {
      database.exec(schema);
    } else if (version !== schemaVersion) {
      throw new StoreError('invalid_store', `the job store file: ${laterVersion}`);
    }
    // Added to stores of version 1: without it an earlier program works as well.
    database.exec('CREATE INDEX IF NOT EXISTS job_by_change ON job (scope, updated_at_ms)');
    database.exec('CREATE INDEX IF NOT EXISTS job_by_creation ON job (created_at_ms, id)');
  });
}

/**
 * Runs `work` as one immediate transaction, which holds the write lock from the start.
 * @throws StoreError `store_busy`; `disk_full`
 */
export function runInTransaction<T>(database: DatabaseSync, work: () => T): T {
  try {
    return run(database, work);
  } catch (cause) {
    throw isBusyError(cause)
      ? new StoreError('store_busy', 'the job store is locked by another process; try again', cause)
      : cause;
  }
}

function isBusyError(error: unknown): boolean {
  return resultCodeOf(error) === 5;
}
