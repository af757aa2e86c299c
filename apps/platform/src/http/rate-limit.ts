/**
 * How often one caller may call: a bucket of calls each, refilled steadily. In memory, one process: what it
 * guards is this process's time, and credentials have too many bits to be guessed.
 *
 * @module
 */
import { PoolError } from '@pool/core';

export type RateLimiter = {
  /**
   * Takes one call of the caller's, or as many as are given.
   * @throws PoolError `rate_limited` (429) with `retryAfterSeconds`
   */
  take(caller: string, cost?: number): void;
  /** Undoes one {@link take} of a moment ago. */
  giveBack(caller: string): void;
};

/** Calls that are allowed for long. Of those counted by second, ten seconds' worth may come at once. */
export type RateLimitConfig = {
  /** Of one address: signing in, and calls whose credential is not good. */
  readonly addressPerSecond: number;
  /** Of one wallet, through all of its sessions. */
  readonly sessionPerSecond: number;
  /** Of one edge token, and of one holder key at the edge. */
  readonly edgePerSecond: number;
  /** Of one employer: settlements handed over or withdrawn, notes delivered again. A minute's worth may come at once. */
  readonly settlementsPerMinute: number;
};

export type RateLimits = {
  readonly address: RateLimiter;
  readonly session: RateLimiter;
  readonly edge: RateLimiter;
  /** In parts of a settlement: see {@link settlementCost}. */
  readonly settlements: RateLimiter;
};

const burstSeconds = 10;

/**
 * What is taken of `settlements`: a request that is answered with what is stored costs a fifth of one that has to be
 * checked, and the rest is taken before the first check.
 */
export const settlementCost = { request: 1, checks: 4 } as const;

/** Callers remembered at once. Whoever is forgotten, the one who called longest ago, has a full bucket again. */
export const maxRememberedCallers = 20_000;

export function createRateLimits(config: RateLimitConfig, nowMs: () => number): RateLimits {
  return {
    address: createRateLimiter(config.addressPerSecond, nowMs),
    session: createRateLimiter(config.sessionPerSecond, nowMs),
    edge: createRateLimiter(config.edgePerSecond, nowMs),
    settlements: createRateLimiter(
      ((settlementCost.request + settlementCost.checks) * config.settlementsPerMinute) / 60,
      nowMs,
      60,
    ),
  };
}

/** @param seconds - how many seconds' worth may come at once */
export function createRateLimiter(
  perSecond: number,
  nowMs: () => number,
  seconds = burstSeconds,
): RateLimiter {
  const burst = perSecond * seconds;
  const buckets = new Map<string, { readonly calls: number; readonly atMs: number }>();
  return {
    take(caller, cost = 1) {
      const now = nowMs();
      const bucket = buckets.get(caller);
      // A clock that was set back refills nothing and takes nothing.
      const elapsedSeconds = bucket === undefined ? 0 : Math.max(0, now - bucket.atMs) / 1000;
      const calls =
        bucket === undefined ? burst : Math.min(burst, bucket.calls + elapsedSeconds * perSecond);
      if (calls < cost) {
        throw new PoolError('rate_limited', 'too many requests; slow down and try again', {
          status: 429,
          retryable: true,
          details: { retryAfterSeconds: Math.max(1, Math.ceil((cost - calls) / perSecond)) },
        });
      }
      // Written anew, so that the front of the map is whoever called longest ago.
      buckets.delete(caller);
      buckets.set(caller, { calls: calls - cost, atMs: now });
      if (buckets.size > maxRememberedCallers) {
        for (const oldest of buckets.keys()) {
          buckets.delete(oldest);
          break;
        }
      }
    },
    giveBack(caller) {
      const bucket = buckets.get(caller);
      if (bucket !== undefined) {
        buckets.set(caller, { ...bucket, calls: Math.min(burst, bucket.calls + 1) });
      }
    },
  };
}
