/**
 * A file that one process holds.
 *
 * @module
 */
import { DatabaseSync } from 'node:sqlite';
import { makePrivateFile } from './private-database.ts';

/** Held until it is closed. */
export type FileLock = { close(): void };

/**
 * The lock is an open transaction of SQLite. The operating system ends it with the process, so no stale lock is left.
 * @param path - made if it is missing, for its owner only
 * @throws if another process, or another part of this one, holds it
 */
export function lockFile(path: string): FileLock {
  makePrivateFile(path);
  const lock = new DatabaseSync(path);
  try {
    // Nothing is written, so no journal is needed on disk.
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    throw error;
  }
}
