/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      database_refused:
        'The configured database is of another program, part or version, or can lose answered writes. Do what the message says.',
    },
  },
] as const satisfies readonly ErrorGroup[];
