/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    status: 503,
    retry: true,
    meanings: {
      screening_unavailable: 'The screening of wallets does not answer. Repeat the call later.',
    },
  },
] as const satisfies readonly ErrorGroup[];
