/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      sandbox_failed: 'A step of the sandbox failed. The message names the step and its log.',
    },
  },
] as const satisfies readonly ErrorGroup[];
