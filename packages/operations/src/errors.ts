/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      settled_elsewhere:
        'Another settlement has paid the key, or still may. Look at the named transaction before you pay again.',
      cancelled: 'The payment was withdrawn unpaid. Pay under a new key if it is still due.',
      insufficient_balance:
        'The funder has too few tokens. Send it some, then pay under a new key.',
      insufficient_gas:
        'The funder has too little coin for gas. Send it some, then pay under a new key.',
      recipient_key_rotated:
        "A recipient's encryption key changed since it was last paid. Ask whether it was rotated.",
      allowance_outside:
        'The contract wallet has not given the pool the allowance of the batch. Let its owners make the call of the message.',
      release_required:
        'The release policy asks people to release the payment before it is signed. Tell them; "release list" shows what waits.',
      approval_failed:
        "The funder's approve transaction reverted, or was not mined in time. Do what the message says, then pay under a new key.",
    },
  },
  {
    status: 403,
    exit: 2,
    meanings: {
      release_policy_refused:
        'The release policy lets nobody prepare or release this payment. Change DISBURSE_RELEASE_POLICY, or pay with the credential of another person.',
    },
  },
  {
    exit: 3,
    meanings: {
      release_denied:
        'A person denied the release of the batch, and nothing was paid. Correct the payment and prepare it under a new key.',
      release_expired:
        'The batch was not released in time, or its time to be paid has passed, and nothing was paid. Prepare it under a new key.',
    },
  },
  {
    retry: true,
    meanings: {
      relayer_unavailable:
        "The platform's relayer cannot send transactions now. Payments wait until it can.",
    },
  },
  {
    status: 500,
    meanings: {
      job_unreadable:
        'The job store holds an unreadable job. Restore it before you pay under a new key.',
    },
  },
  {
    status: 503,
    retry: true,
    meanings: {
      timed_out:
        'A step took longer than its limit. Send the request again; if it repeats, look at the named service.',
    },
  },
] as const satisfies readonly ErrorGroup[];
