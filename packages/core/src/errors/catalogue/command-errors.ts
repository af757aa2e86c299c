/**
 * Codes of the agent's commands and its own directory.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const commandErrors = {
  invalid_configuration: {
    meaning:
      'A variable of the configuration is missing or malformed. Correct the named variables.',
  },
  invalid_roster: {
    exit: 2,
    meaning: 'The roster has lines that cannot be read. Correct the named lines.',
  },
  invalid_csv_path: {
    exit: 2,
    meaning: 'The file of --csv cannot be written. Name a new file in an existing directory.',
  },
  csv_not_written: {
    status: 500,
    meaning: 'The table could not be written; the payment is not affected. Run the command again.',
  },
  file_not_written: {
    meaning: "A file could not be written. Check the directory's space and permissions.",
  },
  credentials_not_revoked: {
    meaning: 'The command failed and could not revoke what it made. Revoke what the message names.',
  },
  backup_not_made: {
    meaning: 'A store could not be copied, so there is no backup. Check the named file.',
  },
  backup_unreadable: {
    exit: 2,
    meaning: 'This identity or passphrase does not open the backup. Use that of its encryption.',
  },
  backup_damaged: {
    exit: 2,
    meaning:
      "The backup is incomplete, changed, or by another viewing key's owner. Use another copy.",
  },
  restore_refused: {
    exit: 2,
    meaning:
      'The backup is of another holder or employer, or the directory is not empty. Do what the message says.',
  },
  invalid_pay_run: {
    exit: 2,
    meaning: 'The label of the pay run is malformed. Use one as the message describes.',
  },
  invalid_retry: {
    exit: 2,
    meaning:
      '--retry names no part of the run, or one that has not ended. Name a part that has failed.',
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
  pay_run_ledger_damaged: {
    status: 500,
    meaning: 'The ledger of pay runs cannot be read. Restore it from a backup.',
  },
  pay_run_ledger_unavailable: {
    status: 500,
    meaning:
      "The ledger of pay runs cannot be opened. Check the agent directory's permissions and space.",
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
      'The named tenancy is malformed or not the current one. Read it with `disburse-agent tenancy show`.',
  },
  tenancy_jobs_open: {
    exit: 2,
    meaning: 'Jobs of the earlier tenancy have not ended. Let them end or cancel them first.',
  },
  loopback_token_missing: {
    meaning: 'The agent has never run in this directory. Start `disburse-agent serve`.',
  },
  fingerprint_key_damaged: {
    meaning: 'The fingerprint key cannot be read. Restore it, or set DISBURSE_FINGERPRINT_KEY.',
  },
  invalid_contact: {
    exit: 2,
    meaning: 'The label of a contact is malformed. Use one as the message describes.',
  },
  contact_exists: {
    exit: 2,
    meaning:
      'The label or the wallet is a contact already. Choose another label, or remove it first.',
  },
  contact_confusable: {
    exit: 2,
    meaning: 'The label looks like that of another wallet. Choose a clearly different one.',
  },
  contact_unknown: {
    exit: 2,
    meaning: 'There is no such contact. Use a listed label, or add it.',
  },
  contact_changed: {
    exit: 2,
    meaning:
      "The contact's evidence is not of its wallet. Ask the owner for W by another way before you pay.",
  },
  contacts_damaged: {
    meaning: 'The file of contacts cannot be read. Restore it from a backup.',
  },
  openings_damaged: {
    status: 500,
    meaning:
      'The openings kept for disclosures are unreadable. Restore openings.sqlite and openings.key together.',
  },
  delivery_damaged: {
    status: 500,
    meaning: 'The sealed notes in the job store are damaged. Restore the job store from a backup.',
  },
  delivery_not_kept: {
    meaning:
      'This agent did not keep the sealed notes. Use the agent that made the batch, or a backup.',
  },
} as const satisfies ErrorEntries;
