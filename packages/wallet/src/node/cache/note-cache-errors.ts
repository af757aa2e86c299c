/**
 * What went wrong with a file of the holder's notes: damage, after which a cache is made again, or a file that cannot be used now, which
 * the operator must hear about.
 *
 * @module
 */
import { isPoolError, PoolError } from '@pool/core';
import { explainFullDisk, resultCodeOf } from '@pool/storage';

/** The file is not one that this program wrote. Its message says why, and names no amount. */
export class DamageError extends Error {}

/** SQLite's result codes. */
const sqlite = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  corrupt: 11,
  notADatabase: 26,
} as const;

/** Whether the contents are wrong. Every other error says nothing about them, so they must be kept. */
export function isDamage(error: unknown): boolean {
  const code = resultCodeOf(error);
  return (
    error instanceof DamageError ||
    code === sqlite.corrupt ||
    code === sqlite.notADatabase ||
    // A value in a row is not one that can be written.
    (isPoolError(error) && error.code === 'invalid_field_element')
  );
}

/** @returns PoolError `note_cache_unavailable` or `disk_full`, which names the file and what to do; a PoolError unchanged */
export function explainNoteFile(path: string, what: string, cause: unknown): PoolError {
  if (isPoolError(cause)) {
    return cause;
  }
  const found = cause instanceof Error ? `: ${cause.message}` : '';
  return (
    explainFullDisk(path, cause) ??
    new PoolError(
      'note_cache_unavailable',
      `the ${what} ${path} cannot be used${found}; ${adviseAbout(cause)}`,
      { cause },
    )
  );
}

function adviseAbout(cause: unknown): string {
  const system = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const code = resultCodeOf(cause);
  if (code === sqlite.busy || code === sqlite.locked) {
    return 'another process uses it: try again when it has finished';
  }
  if (system === 'EMFILE' || system === 'ENFILE') {
    return 'too many files are open: raise the limit (ulimit -n) and start again';
  }
  if (code === sqlite.readOnly || ['EACCES', 'EPERM', 'EROFS'].includes(system)) {
    return "make it readable and writable for the agent's user";
  }
  return 'check that the directory exists, its permissions and the free space';
}
