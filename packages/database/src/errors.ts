/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      data_directory_locked: 'Another process or sandbox uses the data directory. Stop it first.',
    },
  },
  {
    status: 503,
    retry: true,
    meanings: {
      database_lock_lost:
        'The process no longer leads. Another one may be at work; nothing was sent.',
    },
  },
] as const satisfies readonly ErrorGroup[];
