/**
 * Opens the ledger's SQLite file: private, durable (`synchronous = FULL`), one schema version, one owner.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  mkdirSync,
  openSync,
  statfsSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PoolError } from '@pool/core';
import { ledgerSchema, ledgerVersion } from './schema.ts';

/** How long a statement waits for another process, for example an operator command. Milliseconds. */
const busyTimeoutMs = 5_000;

/** SQLite's result code. */
const sqliteFull = 13;

export type LedgerDatabase = {
  readonly database: DatabaseSync;
  readonly isNew: boolean;
  close(): void;
};

/**
 * @param path - a file, made 0600, or `:memory:`
 * @param isOwner - holds the lock of the one process that votes. Operator commands open the file without it
 * @throws PoolError `ledger_in_use` (another process votes with it), `ledger_unreadable`, `disk_full`
 */
export function openLedgerDatabase(path: string, isOwner: boolean): LedgerDatabase {
  const lock = isOwner && path !== ':memory:' ? lockLedger(path) : undefined;
  let database: DatabaseSync | undefined;
  try {
    if (path !== ':memory:') {
      makePrivateFile(path);
    }
    database = new DatabaseSync(path, { timeout: busyTimeoutMs });
    // FULL: a vote that is given out survives a power failure. secure_delete: erased people are overwritten in the file.
    database.exec(
      'PRAGMA secure_delete = ON; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;',
    );
    const isNew = migrate(database);
    const opened = database;
    return {
      database,
      isNew,
      close() {
        opened.close();
        lock?.close();
      },
    };
  } catch (cause) {
    database?.close();
    lock?.close();
    throw cause instanceof PoolError
      ? cause
      : (explainFullDisk(path, cause) ?? createUnreadable(path, cause));
  }
}

function makePrivateFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // SQLite gives -wal and -shm the mode of the file.
  const file = openSync(path, 'a', 0o600);
  try {
    fchmodSync(file, 0o600);
  } finally {
    closeSync(file);
  }
  for (const side of [`${path}-wal`, `${path}-shm`]) {
    if (existsSync(side)) {
      chmodSync(side, 0o600);
    }
  }
}

/** An open transaction on a file of its own. The operating system ends it with the process, so no stale lock is left. */
function lockLedger(path: string): DatabaseSync {
  const lockPath = `${path}.lock`;
  makePrivateFile(lockPath);
  const lock = new DatabaseSync(lockPath, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (cause) {
    lock.close();
    throw new PoolError(
      'ledger_in_use',
      `another process votes with the ledger ${path}; stop it first`,
      { cause },
    );
  }
}

function migrate(database: DatabaseSync): boolean {
  return runInTransaction(database, () => {
    const version = database.prepare('PRAGMA user_version').get()?.['user_version'];
    if (version === ledgerVersion) {
      return false;
    }
    if (version !== 0) {
      throw new PoolError(
        'ledger_unreadable',
        'another version of this program wrote the ledger; use that version',
      );
    }
    database.exec(ledgerSchema);
    database
      .prepare('INSERT INTO ledger (only, ledger_id, generation) VALUES (1, ?, 0)')
      .run(randomBytes(16).toString('hex'));
    return true;
  });
}

function createUnreadable(path: string, cause: unknown): PoolError {
  return new PoolError(
    'ledger_unreadable',
    `the ledger ${path} cannot be opened as a database; restore it from a backup and re-baseline it`,
    { cause },
  );
}

/** @returns PoolError `disk_full`; undefined if the cause is another one */
function explainFullDisk(path: string, cause: unknown): PoolError | undefined {
  const isFull =
    cause instanceof Error &&
    (('errcode' in cause && cause.errcode === sqliteFull) ||
      ('code' in cause && (cause.code === 'ENOSPC' || cause.code === 'EDQUOT')));
  return isFull
    ? new PoolError(
        'disk_full',
        `${path} cannot be written: the disk is full${describeFree(path)}; make room on it, then try again`,
        { cause },
      )
    : undefined;
}

function describeFree(path: string): string {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return ` (${Math.floor((bavail * bsize) / 1024)} KiB are free)`;
  } catch {
    return '';
  }
}

/**
 * Runs `work` as one immediate transaction, which holds the write lock from the start. All of its writes, or none.
 * @throws PoolError `disk_full`
 */
export function runInTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) {
      database.exec('ROLLBACK');
    }
    throw explainFullDisk(database.location() ?? 'the ledger', error) ?? error;
  }
}
