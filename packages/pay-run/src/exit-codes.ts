/**
 * Exit codes of the commands, for scripts. Documented in README.md.
 *
 * @module
 */
import { findErrorEntry } from '@pool/core';

export const exitCodes = {
  ok: 0,
  /** A problem of configuration or arguments, an agent that does not answer, or a bug. */
  error: 1,
  /** The request was refused and not accepted: roster, checks, key conflict. */
  refused: 2,
  /** The job failed, without an effect on chain. */
  failed: 3,
  /** The transaction was submitted and reverted: nothing was paid. */
  partial: 4,
  /** Paid, or a dry run without a problem, but a recipient of the roster is skipped. */
  someUnpaid: 5,
  /** The roster has no problem, but it cannot be paid now: money, gas, relayer or gate. Nothing was sent. */
  notNow: 6,
  /** `cancel`: the batch was paid before it could be withdrawn. */
  paidAnyway: 7,
  /** `transfer`, `send`: the outcome is not known. The spend may have landed, or may still land: read the chain before you pay again. */
  unknown: 8,
  /** A signal ended the following of a payment, and the payment continues: 128 plus the number of SIGINT. */
  interrupted: 130,
} as const;

/** The exit code of an error, from core's table of error codes. @param code - of the error that ended a command */
export function exitCodeOfError(code: string): number {
  return findErrorEntry(code)?.exit ?? exitCodes.error;
}
