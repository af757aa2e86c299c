/**
 * One command at a time changes a sandbox directory. The lock names its owner by pid and start time, so that
 * a crash leaves nothing to clean up by hand.
 *
 * @module
 */
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PoolError } from '@pool/core';
import { isRunning, type ProcessIdentity, readProcessIdentity } from '@pool/testkit';

export type DirectoryLock = { release(): void };

/**
 * Makes the directory and takes its lock.
 * @throws PoolError `data_directory_locked` while another command holds it
 */
export function lockDirectory(directory: string): DirectoryLock {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, 'command.lock');
  const own = join(directory, `command.lock.${process.pid}`);
  writeFileSync(own, JSON.stringify(readProcessIdentity(process.pid)), { mode: 0o600 });
  try {
    // Linking a complete file fails when the name exists: no reader ever sees a part of a lock.
    if (!tryLink(own, path)) {
      if (isHeld(path)) {
        throw new PoolError(
          'data_directory_locked',
          'another sandbox command is working here; wait until it has finished',
        );
      }
      rmSync(path, { force: true });
      if (!tryLink(own, path)) {
        throw new PoolError(
          'data_directory_locked',
          'another sandbox command has just started here',
        );
      }
    }
  } finally {
    rmSync(own, { force: true });
  }
  return { release: () => rmSync(path, { force: true }) };
}

/** True while a running command holds the lock of the directory. */
export function isLocked(directory: string): boolean {
  return isHeld(join(directory, 'command.lock'));
}

function tryLink(own: string, path: string): boolean {
  try {
    linkSync(own, path);
    return true;
  } catch {
    return false;
  }
}

function isHeld(path: string): boolean {
  try {
    return isRunning(JSON.parse(readFileSync(path, 'utf8')) as ProcessIdentity);
  } catch {
    return false;
  }
}
