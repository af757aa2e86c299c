/**
 * Exit codes of the commands, for scripts. Documented in README.md.
 *
 * @module
 */
import { disbursementErrorCodes } from '@pool/core';

export const exitCodes = {
  ok: 0,
  /** Configuration, arguments, an agent that does not answer, or a bug. */
  error: 1,
  /** The request was refused before anything was accepted: roster, checks, key conflict. */
  refused: 2,
  /** The job failed: nothing on chain. */
  failed: 3,
  /** The transaction was submitted and reverted: nothing was paid. */
  partial: 4,
  /** Paid, or a dry run that found nothing against it, and somebody on the roster is left out. */
  someUnpaid: 5,
  /** Nothing is wrong with the roster, and it cannot be paid now: money, gas, relayer or gate. Nothing was sent. */
  notNow: 6,
  /** `cancel`: the batch was paid before it could be withdrawn. */
  paidAnyway: 7,
  /** A signal while a payment was followed, which goes on: 128 and SIGINT. */
  interrupted: 130,
} as const;

/** Errors that mean: what was asked for is refused, fix it and ask again. */
const refusalCodes: ReadonlySet<string> = new Set([
  'invalid_roster',
  'invalid_pay_run',
  'invalid_retry',
  'pay_run_conflict',
  'pay_run_job_lost',
  'invalid_tenancy',
  'tenancy_jobs_open',
  'payment_declined',
  'invalid_csv_path',
  'invalid_request',
  'not_found',
  'idempotency_conflict',
  ...disbursementErrorCodes,
]);

/** @param code - of an error that ended a command */
export function exitCodeOfError(code: string): number {
  if (code === 'payment_blocked') {
    return exitCodes.notNow;
  }
  return refusalCodes.has(code) ? exitCodes.refused : exitCodes.error;
}
