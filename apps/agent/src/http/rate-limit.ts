/**
 * How often one credential may ask. Each has a bucket of its own that refills steadily. Those that have not
 * proved themselves are remembered apart, so that however many are made up, none takes the bucket of one that
 * has; what a flood of them may cost the platform is limited by the key gate.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { PoolError } from '@pool/core';

export type RateLimiter = {
  /** Takes one request from the credential's bucket. @throws PoolError 429 `rate_limited` */
  charge(credential: string): void;
  /** The credential has authenticated: strangers cannot crowd it out any more. */
  admit(credential: string): void;
  /** Whether the credential has authenticated lately. Says nothing about now. */
  isAdmitted(credential: string): boolean;
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
  const admitted = new Map<string, Bucket>();
  const strangers = new Map<string, Bucket>();

  function refill(bucket: Bucket): void {
    const now = nowMs();
    const gained = (Math.max(0, now - bucket.atMs) / 1000) * perSecond;
    bucket.tokens = Math.min(burst, bucket.tokens + gained);
    bucket.atMs = now;
  }

  return {
    charge(credential) {
      const hash = hashOf(credential);
      const buckets = admitted.has(hash) ? admitted : strangers;
      const bucket = buckets.get(hash) ?? { tokens: burst, atMs: nowMs() };
      keep(buckets, hash, bucket);
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
      const bucket = admitted.get(hash) ?? strangers.get(hash);
      strangers.delete(hash);
      keep(admitted, hash, bucket ?? { tokens: burst, atMs: nowMs() });
    },
    isAdmitted: (credential) => admitted.has(hashOf(credential)),
  };
}

/** Puts the bucket at the end (a Map is in the order of insertion), and forgets the first of too many. */
function keep(buckets: Map<string, Bucket>, hash: string, bucket: Bucket): void {
  buckets.delete(hash);
  buckets.set(hash, bucket);
  const oldest = buckets.size > maxBuckets ? buckets.keys().next().value : undefined;
  if (oldest !== undefined) {
    buckets.delete(oldest);
  }
}

/** Memory holds no credential. */
export function hashOf(credential: string): string {
  return createHash('sha256').update(credential).digest('base64');
}
