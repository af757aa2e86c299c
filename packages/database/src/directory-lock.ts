/**
 * One process per data directory. PGlite takes no lock of its own, and two writers would destroy the
 * database. The lock is SQLite's: the operating system drops it with the process, so a killed platform
 * leaves nothing to clean up and no stale lock.
 *
 * @module
 */
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PoolError } from '@pool/core';
import { type FileLock, lockFile } from '@pool/storage';

export type DirectoryLock = { release(): void };

/**
 * Creates the directory when missing, removes the rights of other users and locks it.
 * @throws PoolError `data_directory_locked` when another process, or another part of this one, holds it
 */
export function lockDirectory(directory: string): DirectoryLock {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // The directory may exist already, with rights that are too wide for its content.
  const { mode } = statSync(directory);
  if ((mode & 0o077) !== 0) {
    chmodSync(directory, mode & 0o700);
  }
  let lock: FileLock;
  try {
    lock = lockFile(join(directory, 'lock.sqlite'));
  } catch (cause) {
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
        lock.close();
      }
    },
  };
}
