/**
 * Files that a command writes.
 *
 * @module
 */
import { writeFileSync } from 'node:fs';
import { PoolError } from '@pool/core';

/** For its owner alone. @throws PoolError `file_not_written`: also if the file exists */
export function writeNewFile(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    throw new PoolError(
      'file_not_written',
      `${path} cannot be written; it must be a new file in an existing folder`,
      { cause },
    );
  }
}
