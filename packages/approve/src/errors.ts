/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    exit: 2,
    meanings: {
      invalid_release:
        "The statement's key is not in the policy or not Ed25519. Use a key that the policy lists.",
    },
  },
  {
    status: 503,
    retry: true,
    meanings: {
      manifest_not_ready:
        'A fact is missing, so the manifest is not stored yet. Send the same one again.',
    },
  },
] as const satisfies readonly ErrorGroup[];
