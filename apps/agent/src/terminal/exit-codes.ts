/**
 * Exit codes of the commands, for scripts. Documented in README.md.
 *
 * @module
 */
import { findErrorEntry } from '@pool/core';

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

/** @param code - of an error that ended a command */
export function exitCodeOfError(code: string): number {
  return findErrorEntry(code)?.exit ?? exitCodes.error;
}
