/**
 * Small files that must survive a crash and a power cut: complete or absent, mode 0600, and on
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
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { explainFullDisk, isCode } from './full-disk.ts';

/**
 * Creates the file if it does not exist. If two processes start at once, one of them creates it.
 * @returns false when the file existed; it is not changed
 */
export function createDurableFile(path: string, content: string | Uint8Array): boolean {
  const temporary = writeTemporary(path, content);
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (isCode(error, 'EEXIST')) {
      return false;
    }
    // Some file systems have no hard links. There, the rename replaces a file that another process wrote meanwhile.
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

/** @throws `disk_full`, or the error of the file system; then the file is removed again, because it may contain a part of a secret */
function writeTemporary(path: string, content: string | Uint8Array): string {
  const temporary = `${path}.${randomBytes(8).toString('hex')}.tmp`;
  const file = openSync(temporary, 'wx', 0o600);
  try {
    try {
      // Writes all of it: one call of `write` may write less, for example on a full disk.
      writeFileSync(file, content);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    rmSync(temporary, { force: true });
    throw explainFullDisk(path, error) ?? error;
  }
  return temporary;
}

/** Writes the new name to disk too. Windows has no handle of a folder for this. */
export function syncFolder(path: string): void {
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
