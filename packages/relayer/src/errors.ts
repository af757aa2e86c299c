/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      batch_voided: 'The funder withdrew the batch. Pay under a new key if it is still due.',
      'authorization-expired': 'The deadline has passed. Pay under a new key if it is still due.',
    },
  },
  {
    retry: true,
    meanings: {
      transaction_stuck:
        'A transaction of the relayer is not mined, and later ones wait. The operator looks at nonce and fees.',
      stalled: "The relayer's worker has stopped, and payments wait. The operator restarts it.",
    },
  },
] as const satisfies readonly ErrorGroup[];
