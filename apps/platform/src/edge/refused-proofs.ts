/**
 * How many proofs of one employer or holder may fail to verify (docs/decisions/0011). Each costs the thread that checks those of
 * everybody. An honest agent verifies its own proof before it sends it.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { RateLimiter } from '@pool/http-server';

/** @throws PoolError `rate_limited` (429) */
export function assertProofsGood(
  limiter: RateLimiter,
  id: string,
  what: 'settlements of this employer' | 'spends of this holder',
): void {
  try {
    limiter.take(id);
  } catch (cause) {
    const details = cause instanceof PoolError ? cause.details : undefined;
    throw new PoolError(
      'rate_limited',
      `too many ${what} had a proof that is not valid; check that agent and platform use keys of the same ceremony, and try again later`,
      { cause, ...(details === undefined ? {} : { details }) },
    );
  }
  limiter.giveBack(id);
}

/** The refusal of the proof itself is answered already. */
export function noteRefusedProof(limiter: RateLimiter, id: string): void {
  try {
    limiter.take(id);
  } catch {
    // Others of this owner were checked at the same time, and took the last ones.
  }
}
