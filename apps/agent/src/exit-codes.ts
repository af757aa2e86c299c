/**
 * Exit codes of the commands, for scripts. Documented in README.md.
 *
 * @module
 */
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
} as const;
