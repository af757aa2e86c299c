/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      credentials_not_revoked:
        'The command failed and could not revoke what it made. Revoke what the message names.',
    },
  },
] as const satisfies readonly ErrorGroup[];
