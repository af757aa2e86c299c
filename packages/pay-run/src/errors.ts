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
      invalid_roster: 'The roster has lines that cannot be read. Correct the named lines.',
      payment_declined:
        'The question before the payment was answered with no. Run the command again to pay.',
    },
  },
  {
    status: 409,
    exit: 2,
    meanings: {
      pay_run_conflict: 'The label was used for another roster. Choose another label.',
      pay_run_job_lost:
        'The agent does not know a job of this pay run. Check the chain before you pay that part again.',
    },
  },
  {
    status: 503,
    exit: 6,
    meanings: {
      payment_blocked:
        'The roster is valid, but something prevents the payment. Correct what the message names.',
    },
  },
] as const satisfies readonly ErrorGroup[];
