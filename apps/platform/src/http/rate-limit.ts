/**
 * How often one caller may call: a bucket of calls each, refilled steadily. In memory, one process: what it
 * guards is this process's time, and credentials have too many bits to be guessed.
 *
 * @module
 */
import { PoolError } from '@pool/core';

export type RateLimiter = {
  /** Takes one call of the caller's. @throws PoolError `rate_limited` (429) with `retryAfterSeconds` */
  take(caller: string): void;
  /** Undoes one {@link take} of a moment ago. */
  giveBack(caller: string): void;
};

/** Calls a second that are allowed for long; ten seconds' worth may come at once. */
export type RateLimitConfig = {
  /** Of one address: signing in, and calls whose credential is not good. */
  readonly addressPerSecond: number;
  /** Of one wallet, through all of its sessions. */
  readonly sessionPerSecond: number;
  /** Of one edge token, and of one holder key at the edge. */
  readonly edgePerSecond: number;
};

export type RateLimits = {
  readonly address: RateLimiter;
  readonly session: RateLimiter;
  readonly edge: RateLimiter;
};

const burstSeconds = 10;

/** Callers remembered at once. Whoever is forgotten, the one who called longest ago, has a full bucket again. */
export const maxRememberedCallers = 20_000;

export function createRateLimits(config: RateLimitConfig, nowMs: () => number): RateLimits {
  return {
    address: createRateLimiter(config.addressPerSecond, nowMs),
    session: createRateLimiter(config.sessionPerSecond, nowMs),
    edge: createRateLimiter(config.edgePerSecond, nowMs),
  };
}

export function createRateLimiter(perSecond: number, nowMs: () => number): RateLimiter {
  const burst = perSecond * burstSeconds;
  const buckets = new Map<string, { readonly calls: number; readonly atMs: number }>();
  return {
    take(caller) {
      const now = nowMs();
      const bucket = buckets.get(caller);
      // A clock that was set back refills nothing and takes nothing.
      const elapsedSeconds = bucket === undefined ? 0 : Math.max(0, now - bucket.atMs) / 1000;
      const calls =
        bucket === undefined ? burst : Math.min(burst, bucket.calls + elapsedSeconds * perSecond);
      if (calls < 1) {
        throw new PoolError('rate_limited', 'too many requests; slow down and try again', {
          status: 429,
          retryable: true,
          details: { retryAfterSeconds: Math.max(1, Math.ceil((1 - calls) / perSecond)) },
        });
      }
      // Written anew, so that the front of the map is whoever called longest ago.
      buckets.delete(caller);
      buckets.set(caller, { calls: calls - 1, atMs: now });
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
