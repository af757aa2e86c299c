/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      process_not_started:
        'A process was not ready in time, or cannot run here. Read its output in the message.',
    },
  },
] as const satisfies readonly ErrorGroup[];
