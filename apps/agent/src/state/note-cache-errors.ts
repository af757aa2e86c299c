/**
 * What went wrong with a file of the holder's notes: damage, after which a cache is made again, or a file that cannot be used now, which
 * the operator must hear about.
 *
 * @module
 */
import { isPoolError, PoolError } from '@pool/core';

/** The file is not one that this program wrote. Its message says why, and names no amount. */
export class DamageError extends Error {}

/** SQLite's result codes. */
const sqlite = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  corrupt: 11,
  full: 13,
  notADatabase: 26,
} as const;

/** Whether the contents are wrong. Every other error says nothing about them, so they must be kept. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  return (
    error instanceof DamageError ||
    code === sqlite.corrupt ||
    code === sqlite.notADatabase ||
    // A value in a row is not one that can be written.
    (isPoolError(error) && error.code === 'invalid_field_element')
  );
}

/** @returns PoolError `note_cache_unavailable`, which names the file and what to do; a PoolError unchanged */
export function explainNoteFile(path: string, what: string, cause: unknown): PoolError {
  if (isPoolError(cause)) {
    return cause;
  }
  const found = isFull(cause)
    ? ': the disk is full'
    : cause instanceof Error
      ? `: ${cause.message}`
      : '';
  return new PoolError(
    'note_cache_unavailable',
    `the ${what} ${path} cannot be used${found}; ${adviseAbout(cause)}`,
    { cause },
  );
}

function adviseAbout(cause: unknown): string {
  const system = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const code = sqliteCodeOf(cause);
  if (code === sqlite.busy || code === sqlite.locked) {
    return 'another process uses it: try again when it has finished';
  }
  if (isFull(cause)) {
    return 'make room on the disk, then try again';
  }
  if (system === 'EMFILE' || system === 'ENFILE') {
    return 'too many files are open: raise the limit (ulimit -n) and start again';
  }
  if (code === sqlite.readOnly || ['EACCES', 'EPERM', 'EROFS'].includes(system)) {
    return "make it readable and writable for the agent's user";
  }
  return 'check that the directory exists, its permissions and the free space';
}

function isFull(cause: unknown): boolean {
  const system = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return sqliteCodeOf(cause) === sqlite.full || system === 'ENOSPC' || system === 'EDQUOT';
}

/** The primary result code of an error of node:sqlite. */
function sqliteCodeOf(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode & 0xff
    : undefined;
}
