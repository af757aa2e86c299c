/**
 * Codes of the agent's commands and its own directory.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const commandErrors = {
  invalid_configuration: { meaning: 'A variable of the configuration is missing or malformed.' },
  invalid_roster: { exit: 2, meaning: 'The roster has lines that cannot be read.' },
  invalid_csv_path: { exit: 2, meaning: 'The file of --csv cannot be written there.' },
  csv_not_written: { status: 500, meaning: 'The table could not be written.' },
  file_not_written: { meaning: 'A file could not be written.' },
  invalid_pay_run: { exit: 2, meaning: 'The label of the pay run is malformed.' },
  invalid_retry: {
    exit: 2,
    meaning: '--retry names no part of the pay run, or one that is not over.',
  },
  pay_run_conflict: { exit: 2, status: 409, meaning: 'The label was used for another roster.' },
  pay_run_job_lost: {
    exit: 2,
    status: 409,
    meaning: 'The agent does not know a job that this pay run sent.',
  },
  pay_run_ledger_damaged: { status: 500, meaning: 'The ledger of pay runs cannot be read.' },
  pay_run_ledger_unavailable: { status: 500, meaning: 'The ledger of pay runs cannot be opened.' },
  payment_declined: { exit: 2, meaning: 'The question before the payment was answered with no.' },
  payment_blocked: {
    exit: 6,
    status: 503,
    meaning: 'Nothing is wrong with the roster, and it cannot be paid now.',
  },
  invalid_tenancy: {
    exit: 2,
    meaning: 'The tenancy named on the command line is malformed or not the present one.',
  },
  tenancy_jobs_open: { exit: 2, meaning: 'Jobs of the earlier tenancy are not over.' },
  loopback_token_missing: {
    meaning: 'The agent has never run in this directory, so there is no token to call it with.',
  },
  fingerprint_key_damaged: { meaning: 'The key of body fingerprints cannot be read.' },
  delivery_damaged: { status: 500, meaning: 'The sealed notes in the job store are damaged.' },
  delivery_not_kept: { meaning: 'This agent did not keep the sealed notes of that batch.' },
} as const satisfies ErrorEntries;
