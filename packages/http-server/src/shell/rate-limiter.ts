/**
 * How often one caller may call: a bucket of calls each, refilled steadily. In memory of one process, whose time it
 * guards. Callers that have authenticated are remembered apart from all others, so that made-up ones cannot push them out.
 *
 * @module
 */
import { PoolError } from '@pool/core';

export type RateLimiter = {
  /**
   * Takes calls from the caller's bucket.
   * @param cost - calls; default 1
   * @throws PoolError `rate_limited` (429) with `retryAfterSeconds`
   */
  take(caller: string, cost?: number): void;
  /** Undoes one {@link take} of a single call. */
  giveBack(caller: string): void;
  /** The caller has authenticated. It keeps its bucket. */
  admit(caller: string): void;
  /** Whether the caller has authenticated recently. Its credential may have been revoked since. */
  isAdmitted(caller: string): boolean;
};

export type RateLimiterOptions = {
  /** Calls of one caller in the long run. */
  readonly perSecond: number;
  /** Calls that may come at once after a pause. */
  readonly burst: number;
  /** Milliseconds, preferably monotonic. */
  readonly nowMs: () => number;
  /**
   * Admitted callers remembered at once, and as many others. The one that called longest ago is forgotten first, and has
   * a full bucket again. Default: 20,000.
   */
  readonly maxRemembered?: number;
};

type Bucket = { calls: number; atMs: number };

/** @param options - the same for all callers */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { perSecond, burst, nowMs, maxRemembered = 20_000 } = options;
  const admitted = new Map<string, Bucket>();
  const others = new Map<string, Bucket>();

  /** Puts the bucket at the end (a Map keeps the order of insertion), and forgets the first of too many. */
  function remember(buckets: Map<string, Bucket>, caller: string, bucket: Bucket): void {
    buckets.delete(caller);
    buckets.set(caller, bucket);
    const oldest = buckets.size > maxRemembered ? buckets.keys().next().value : undefined;
    if (oldest !== undefined) {
      buckets.delete(oldest);
    }
  }

  function createBucket(): Bucket {
    return { calls: burst, atMs: nowMs() };
  }

  function refill(bucket: Bucket): void {
    const now = nowMs();
    // A clock that was set back refills nothing and takes nothing.
    const elapsedSeconds = Math.max(0, now - bucket.atMs) / 1000;
    bucket.calls = Math.min(burst, bucket.calls + elapsedSeconds * perSecond);
    bucket.atMs = now;
  }

  return {
    take(caller, cost = 1) {
      const buckets = admitted.has(caller) ? admitted : others;
      const bucket = buckets.get(caller) ?? createBucket();
      remember(buckets, caller, bucket);
      refill(bucket);
      if (bucket.calls < cost) {
        const retryAfterSeconds = Math.max(1, Math.ceil((cost - bucket.calls) / perSecond));
        throw new PoolError(
          'rate_limited',
          `too many requests; try again in ${retryAfterSeconds} s`,
          { details: { retryAfterSeconds } },
        );
      }
      bucket.calls -= cost;
    },
    giveBack(caller) {
      const bucket = admitted.get(caller) ?? others.get(caller);
      if (bucket !== undefined) {
        // The next take caps it at the burst.
        bucket.calls += 1;
      }
    },
    admit(caller) {
      const bucket = admitted.get(caller) ?? others.get(caller) ?? createBucket();
      others.delete(caller);
      remember(admitted, caller, bucket);
    },
    isAdmitted: (caller) => admitted.has(caller),
  };
}

/** Ten seconds' worth of calls may come at once. */
export function createCallerLimiter(perSecond: number, nowMs: () => number): RateLimiter {
  return createRateLimiter({ perSecond, burst: 10 * perSecond, nowMs });
}
