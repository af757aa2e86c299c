/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      database_locked: 'Another process uses the database. Stop it first.',
      data_directory_locked: 'Another process or sandbox uses the data directory. Stop it first.',
    },
  },
  {
    status: 503,
    retry: true,
    meanings: {
      database_lock_lost: 'The process has lost its lock on the database. Let it restart.',
    },
  },
] as const satisfies readonly ErrorGroup[];
