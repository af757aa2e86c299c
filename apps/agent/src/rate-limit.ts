/**
 * How often one credential may ask. Each has a bucket that refills steadily; a credential that has not proved
 * itself yet shares one with all its like, so that guessing keys neither fills memory nor keeps the platform busy.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { PoolError } from '@pool/core';

export type RateLimiter = {
  /** Takes one request from the credential's bucket. @throws PoolError 429 `rate_limited` */
  charge(credential: string): void;
  /** From now on the credential has a bucket of its own: it has authenticated. */
  admit(credential: string): void;
};

type Bucket = { tokens: number; atMs: number };

/** More than the live keys of many employers; the one unused longest makes room. */
const maxBuckets = 1_024;

/**
 * @param perSecond - requests of one credential in the long run; at once after a pause it may send twice as many
 * @param nowMs - milliseconds, better monotonic
 */
export function createRateLimiter(perSecond: number, nowMs: () => number): RateLimiter {
  const burst = Math.max(1, 2 * perSecond);
  const buckets = new Map<string, Bucket>();
  const strangers: Bucket = createBucket();

  function createBucket(): Bucket {
    return { tokens: burst, atMs: nowMs() };
  }

  function refill(bucket: Bucket): void {
    const now = nowMs();
    const gained = (Math.max(0, now - bucket.atMs) / 1000) * perSecond;
    bucket.tokens = Math.min(burst, bucket.tokens + gained);
    bucket.atMs = now;
  }

  return {
    charge(credential) {
      const bucket = buckets.get(hashOf(credential)) ?? strangers;
      refill(bucket);
      if (bucket.tokens < 1) {
        const retryAfterSeconds = Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond));
        throw new PoolError(
          'rate_limited',
          `too many requests with this credential; try again in ${retryAfterSeconds} s`,
          { status: 429, retryable: true, details: { retryAfterSeconds } },
        );
      }
      bucket.tokens -= 1;
    },
    admit(credential) {
      const hash = hashOf(credential);
      const bucket = buckets.get(hash) ?? createBucket();
      // Moves it to the end: a Map is in the order of insertion.
      buckets.delete(hash);
      buckets.set(hash, bucket);
      const oldest = buckets.size > maxBuckets ? buckets.keys().next().value : undefined;
      if (oldest !== undefined) {
        buckets.delete(oldest);
      }
    },
  };
}

/** Memory holds no credential. */
function hashOf(credential: string): string {
  return createHash('sha256').update(credential).digest('base64');
}
