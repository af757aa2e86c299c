/**
 * Codes of the agent's commands and its own directory.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const commandErrors = {
  invalid_configuration: {
    meaning:
      'A variable of the configuration, or the file it names, is missing or malformed. Correct the named variables.',
  },
  invalid_roster: {
    exit: 2,
    meaning: 'The roster has lines that cannot be read. Correct the named lines.',
  },
  file_not_written: {
    meaning:
      "A file could not be written or copied; a payment is not affected. Check the named file, the directory's space and its permissions.",
  },
  credentials_not_revoked: {
    meaning: 'The command failed and could not revoke what it made. Revoke what the message names.',
  },
  restore_refused: {
    exit: 2,
    meaning:
      'The backup or export is unreadable, changed, or of another holder, or the directory is not empty. Do what the message says.',
  },
  pay_run_conflict: {
    exit: 2,
    status: 409,
    meaning: 'The label was used for another roster. Choose another label.',
  },
  pay_run_job_lost: {
    exit: 2,
    status: 409,
    meaning:
      'The agent does not know a job of this pay run. Check the chain before you pay that part again.',
  },
  payment_declined: {
    exit: 2,
    meaning: 'The question before the payment was answered with no. Run the command again to pay.',
  },
  payment_blocked: {
    exit: 6,
    status: 503,
    meaning:
      'The roster is valid, but something prevents the payment. Correct what the message names.',
  },
  invalid_tenancy: {
    exit: 2,
    meaning:
      'The named tenancy is malformed, not the current one, or has open jobs. Read it with `disburse-agent tenancy show`.',
  },
  loopback_token_missing: {
    meaning: 'The agent has never run in this directory. Start `disburse-agent serve`.',
  },
  invalid_contact: {
    exit: 2,
    meaning:
      'The label of a contact is malformed, unknown, in use, or looks like that of another wallet. Choose another one.',
  },
  contact_changed: {
    exit: 2,
    meaning:
      "The contact's evidence is not of its wallet. Ask the owner for W by another way before you pay.",
  },
  delivery_not_kept: {
    meaning:
      'This agent did not keep the sealed notes. Use the agent that made the batch, or a backup.',
  },
  store_damaged: {
    status: 500,
    meaning:
      'A store of the agent cannot be opened or read. Check its permissions, or restore the named file from a backup.',
  },
} as const satisfies ErrorEntries;
