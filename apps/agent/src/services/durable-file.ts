/**
 * Small files of the agent directory that must survive a crash and a power cut: whole or not there, 0600, on
 * disk when a call returns.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates the file unless there is one. Of two processes that start at once, one creates it.
 * @returns false when there was one, which stays as it is
 */
export function createDurableFile(path: string, content: string): boolean {
  const temporary = writeTemporary(path, content);
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (isCode(error, 'EEXIST')) {
      return false;
    }
    // Some file systems have no hard links. A rename replaces what another process wrote in between.
    if (existsSync(path)) {
      return false;
    }
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
    syncFolder(path);
  }
  return true;
}

/** Replaces the file, or creates it. */
export function replaceDurableFile(path: string, content: string): void {
  const temporary = writeTemporary(path, content);
  try {
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
    syncFolder(path);
  }
}

function writeTemporary(path: string, content: string): string {
  const temporary = `${path}.${randomBytes(8).toString('hex')}.tmp`;
  const file = openSync(temporary, 'wx', 0o600);
  try {
    writeSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return temporary;
}

/** The new name must be on disk as well. Windows has no handle of a folder to do that with. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') {
    return;
  }
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** True for an error of the operating system with this code, for example ENOENT. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
