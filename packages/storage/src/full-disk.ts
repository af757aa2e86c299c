/**
 * What an error of SQLite or of the file system says about the disk.
 *
 * @module
 */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { PoolError } from '@pool/core';

/** The primary result code of an error of node:sqlite, which is the low byte of its extended code. */
export function resultCodeOf(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode & 0xff
    : undefined;
}

/** True for an error of the operating system with this code, for example ENOENT. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/**
 * A full disk, in words for the person who must make room.
 * @param path - of the file that was written
 * @param cause - an error of SQLite or of the file system
 * @returns PoolError `disk_full`; undefined if the cause is another one
 */
export function explainFullDisk(path: string, cause: unknown): PoolError | undefined {
  const isFull = resultCodeOf(cause) === 13 || isCode(cause, 'ENOSPC') || isCode(cause, 'EDQUOT');
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
    return ` (${String(Math.floor((bavail * bsize) / 1024))} KiB are free)`;
  } catch {
    return '';
  }
}
