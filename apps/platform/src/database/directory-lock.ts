/**
 * One process per data directory. PGlite takes no lock of its own, and two writers would destroy the
 * database. The lock is SQLite's: the operating system drops it with the process, so a killed platform
 * leaves nothing to clean up and there is no stale lock to guess about.
 *
 * @module
 */
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PoolError } from '@pool/core';

export type DirectoryLock = { release(): void };

/**
 * Creates the directory when missing, takes everybody else's rights on it away and locks it.
 * @throws PoolError `data_directory_locked` when another process, or another part of this one, holds it
 */
export function lockDirectory(directory: string): DirectoryLock {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // It may have been made beforehand by something that did not know what goes in here.
  const { mode } = statSync(directory);
  if ((mode & 0o077) !== 0) {
    chmodSync(directory, mode & 0o700);
  }
  const database = new DatabaseSync(join(directory, 'lock.sqlite'));
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;');
  } catch (cause) {
    database.close();
    throw new PoolError(
      'data_directory_locked',
      'another process uses this data directory; stop it, or choose another directory',
      { cause },
    );
  }
  let released = false;
  return {
    release() {
      if (!released) {
        released = true;
        database.close();
      }
    },
  };
}
