/**
 * Opens the ledger's SQLite file: private, durable (`synchronous = FULL`), one schema version, one owner.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { PoolError, parseStrictJson } from '@pool/core';
import {
  type FileLock,
  isCode,
  lockFile,
  openNamedDatabase,
  replaceDurableFile,
  runInTransaction,
} from '@pool/storage';
import * as v from 'valibot';
import type { Statements } from './table.ts';
import { ledgerSchema, ledgerVersion } from './tables.ts';

// The number of the ledger's last write, in a file beside it. A database that is older than its marker was restored from a backup: it
// lacks votes, so it must not vote.

const markerSchema = v.strictObject({
  version: v.literal(1),
  ledgerId: v.string(),
  generation: v.pipe(v.number(), v.integer(), v.minValue(0)),
});
type Marker = v.InferOutput<typeof markerSchema>;

function readMarker(path: string): Marker | 'absent' | 'unreadable' {
  try {
    return v.parse(markerSchema, parseStrictJson(readFileSync(path, 'utf8'), 'the marker'));
  } catch (error) {
    return isCode(error, 'ENOENT') ? 'absent' : 'unreadable';
  }
}

/** What the marker of this database says. */
function readLedger({ get }: Statements): Marker {
  const row = get('SELECT * FROM ledger');
  return {
    version: 1,
    ledgerId: String(row?.['ledger_id']),
    generation: Number(row?.['generation']),
  };
}

/** Never lowers the marker of this ledger. It is on the disk when this returns. */
export function raiseMarker(statements: Statements, path: string): void {
  const ledger = readLedger(statements);
  const marker = readMarker(path);
  const isCurrent =
    typeof marker === 'object' &&
    marker.ledgerId === ledger.ledgerId &&
    marker.generation >= ledger.generation;
  if (!isCurrent) {
    replaceDurableFile(path, `${JSON.stringify(ledger)}\n`);
  }
}

/** A database that is older than its marker lacks votes. It stays marked until it is re-baselined. @param isNew - it was made now */
export function detectRestore(statements: Statements, path: string, isNew: boolean): void {
  // The marker is read first: another process may write both meanwhile, the database before its marker.
  const marker = readMarker(path);
  const reason = findRestoreReason(marker, readLedger(statements), isNew);
  if (reason !== undefined) {
    const seen = typeof marker === 'object' ? marker.generation : 0;
    statements.transact(() => {
      statements.run('UPDATE ledger SET generation = max(generation, ?) + 1', seen);
      markRestored(statements, reason);
    });
  }
  raiseMarker(statements, path);
}

export function markRestored({ run }: Statements, because: string): void {
  run('UPDATE ledger SET restored_because = coalesce(restored_because, ?)', because);
}

/** Why the ledger is older than what was voted. Undefined: it is current. */
function findRestoreReason(
  marker: ReturnType<typeof readMarker>,
  ledger: Marker,
  isNew: boolean,
): string | undefined {
  if (marker === 'absent') {
    // A marker is written before any vote is given out, so a new ledger has none.
    return isNew ? undefined : 'the generation marker is missing';
  }
  if (marker === 'unreadable') {
    return 'the generation marker cannot be read';
  }
  if (isNew) {
    return 'the database is missing, and its marker is there';
  }
  if (marker.ledgerId !== ledger.ledgerId) {
    return 'the database is that of another ledger';
  }
  return marker.generation > ledger.generation
    ? `the database ends at write ${ledger.generation}, and write ${marker.generation} was made`
    : undefined;
}

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
        'another version of this program wrote the ledger; run that version. Do not vote with a restored ledger before it has the history of the custodian',
      );
    }
    database.exec(ledgerSchema);
    database
      .prepare('INSERT INTO ledger (only, ledger_id, generation) VALUES (1, ?, 0)')
      .run(randomBytes(16).toString('hex'));
    return true;
  });
}
