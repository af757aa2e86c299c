/**
 * A full disk, in words for the person who must make room.
 *
 * @module
 */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { resultCodeOf } from './sqlite-result.ts';
import { StoreError } from './store-error.ts';

/**
 * @param path - of the file that was written
 * @param cause - an error of SQLite or of the file system
 * @returns StoreError `disk_full`; undefined if the cause is another one
 */
export function explainFullDisk(path: string, cause: unknown): StoreError | undefined {
  return isFull(cause)
    ? new StoreError(
        'disk_full',
        `${path} cannot be written: the disk is full${describeFree(path)}; make room on it, then try again`,
        cause,
      )
    : undefined;
}

function isFull(error: unknown): boolean {
  const system = error instanceof Error && 'code' in error ? error.code : undefined;
  return resultCodeOf(error) === 13 || system === 'ENOSPC' || system === 'EDQUOT';
}

function describeFree(path: string): string {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return ` (${String(Math.floor((bavail * bsize) / 1024))} KiB are free)`;
  } catch {
    return '';
  }
}
