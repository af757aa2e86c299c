/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      webhook_target_refused:
        'The target of a webhook is not a public https address. Name a receiver that is reachable from the internet.',
    },
  },
] as const satisfies readonly ErrorGroup[];
