/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      invalid_policy:
        'The policy is unreadable or a field is wrong. Correct it; `approve policy lint` reads it again.',
      ledger_in_use:
        'Another process votes with this ledger. Stop it first: two voters would count a limit twice.',
      ledger_unreadable:
        'The ledger of votes cannot be opened. Use the version that wrote it, or restore and re-baseline it.',
    },
  },
  {
    exit: 2,
    meanings: {
      policy_not_signed:
        'The policy changes only by signatures of its people. Put its file back, or propose, sign and apply.',
    },
  },
  {
    status: 404,
    exit: 2,
    meanings: {
      manifest_unknown:
        'The approve process has no manifest with this digest. List them with `approve manifests`.',
    },
  },
] as const satisfies readonly ErrorGroup[];
