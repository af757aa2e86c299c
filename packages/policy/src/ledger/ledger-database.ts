/**
 * Opens the ledger's SQLite file: private, durable (`synchronous = FULL`), one schema version, one owner.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { PoolError } from '@pool/core';
import { type FileLock, lockFile, openNamedDatabase, runInTransaction } from '@pool/storage';
import { ledgerSchema, ledgerVersion } from './tables.ts';

/** How long a statement waits for another process, for example an operator command. Milliseconds. */
const busyTimeoutMs = 5_000;

/**
 * @param path - a file, made 0600, or `:memory:`
 * @param isOwner - holds the lock of the one process that votes. Operator commands open the file without it
 * @throws PoolError `ledger_in_use` (another process votes with it), `ledger_unreadable`, `disk_full`
 */
export function openLedgerDatabase(path: string, isOwner: boolean) {
  const isFile = path !== ':memory:';
  if (isFile) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  }
  const lock = isOwner && isFile ? lockLedger(path) : undefined;
  let database: DatabaseSync | undefined;
  try {
    database = openNamedDatabase(path, busyTimeoutMs);
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
      : new PoolError(
          'ledger_unreadable',
          `the ledger ${path} cannot be opened as a database; restore it from a backup and re-baseline it`,
          { cause },
        );
  }
}

function lockLedger(path: string): FileLock {
  try {
    return lockFile(`${path}.lock`);
  } catch (cause) {
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
