/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      invalid_viewing_key:
        'The viewing key is not a scalar in its range. Restore the key as it was generated.',
    },
  },
] as const satisfies readonly ErrorGroup[];
