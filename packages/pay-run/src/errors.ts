/**
 * Codes of errors that are thrown here first. docs/errors.md and core's table of rows are generated from every such file.
 *
 * @module
 */
import type { ErrorGroup } from '@pool/core';

export const errors = [
  {
    meanings: {
      delivery_not_kept:
        'This agent did not keep the sealed notes. Use the agent that made the batch, or a backup.',
    },
  },
  {
    exit: 2,
    meanings: {
      invalid_roster: 'The roster has lines that cannot be read. Correct the named lines.',
      invalid_tenancy:
        'The named tenancy is malformed, not the current one, or has open jobs. Read it with `disburse-agent tenancy show`.',
      payment_declined:
        'The question before the payment was answered with no. Run the command again to pay.',
    },
  },
  {
    status: 409,
    exit: 2,
    meanings: {
      pay_run_conflict: 'The label was used for another roster. Choose another label.',
      pay_run_ended:
        'The day until which held-back people are paid has passed. Run `disburse` again with a later `--until`.',
      pay_run_job_lost:
        'The agent does not know a job of this pay run. Check the chain before you pay that part again.',
      statement_incomplete:
        'The statement could lack a payment of its period. Do what the message says, and write it again.',
    },
  },
  {
    status: 503,
    meanings: {
      agent_not_proven:
        "What listens on the agent's port did not prove that it is the agent. No credential was sent. Stop that program, or correct `DISBURSE_HOST`, `DISBURSE_PORT` or `DISBURSE_HOME`.",
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
  {
    status: 504,
    retry: true,
    meanings: {
      agent_unreachable:
        'The agent does not answer, and may have accepted the payment. Repeat the command with the same key.',
    },
  },
] as const satisfies readonly ErrorGroup[];
