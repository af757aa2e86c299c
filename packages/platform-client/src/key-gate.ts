/**
 * Limits the questions to the platform's verify-key, so that made-up keys can neither overload the platform nor lock out a
 * good key (docs/decisions/0007). A made-up key looks like the first use of a good one, so all keys that have never
 * authenticated wait in one queue, first come, first served. Keys that have authenticated before skip it.
 *
 * In one process this guarantees: the platform is asked about at most {@link maxAsked} new keys at once, and about
 * {@link maxAsked} in any {@link slotMs}. While the platform answers within that time, it is asked about a good key after
 * at most {@link maxWaiting} others, in about five seconds. The queue is never longer than the number of connections,
 * because a connection has one request in progress and a caller who disconnects leaves the queue.
 *
 * A refusal is remembered for a moment, an acceptance never: a revocation acts at the next request.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import type { VerifiedKey } from '@pool/api';
import { PoolError } from '@pool/core';
import type { KeyVerifier } from './key-verifier.ts';

export type KeyGate = {
  /**
   * @param signal - aborted when the caller disconnects
   * @throws PoolError 429 `rate_limited` when the queue is too long or does not move; the errors of the verifier
   */
  verify(apiKey: string, signal?: AbortSignal): Promise<VerifiedKey>;
};

export type KeyGateOptions = {
  readonly verifier: KeyVerifier;
  /** Whether the key of a hash has authenticated lately, so that it skips the queue. */
  readonly isAdmitted: (hash: string) => boolean;
  /** Milliseconds, better monotonic. */
  readonly nowMs: () => number;
};

/** New keys that the platform is asked about at once. */
const maxAsked = 8;
/** How long each occupies its place at least: 100 per second, a tenth of the limit of an edge token at the platform. */
const slotMs = 80;
/** The number of connections of the server. */
export const maxWaiting = 512;
/** Callers are refused after this time when the platform answers slowly. */
const maxWaitMs = 10_000;
/** A refused key can be good a moment later: it was minted, or its employer moved to this agent. */
const refusalMs = 1_000;
const maxRefusals = 4_096;

export function createKeyGate({ verifier, isAdmitted, nowMs }: KeyGateOptions): KeyGate {
  const refusedAtMs = new Map<string, number>();
  const line = new Set<() => void>();
  let freePlaces = maxAsked;

  async function ask(apiKey: string, hash: string): Promise<VerifiedKey> {
    const key = await verifier.verify(apiKey);
    refusedAtMs.delete(hash);
    if (!key.valid) {
      refusedAtMs.set(hash, nowMs());
      const oldest = refusedAtMs.size > maxRefusals ? refusedAtMs.keys().next().value : undefined;
      if (oldest !== undefined) {
        refusedAtMs.delete(oldest);
      }
    }
    return key;
  }

  function wasRefused(hash: string): boolean {
    const atMs = refusedAtMs.get(hash);
    return atMs !== undefined && nowMs() - atMs < refusalMs;
  }

  function takePlace(signal: AbortSignal | undefined): Promise<void> {
    if (freePlaces > 0) {
      freePlaces -= 1;
      return Promise.resolve();
    }
    // A signal that is already aborted fires no event.
    if (line.size >= maxWaiting || signal?.aborted === true) {
      return Promise.reject(createBusy());
    }
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void): void => {
        line.delete(enter);
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
        finish();
      };
      const enter = (): void => settle(resolve);
      const leave = (): void => settle(() => reject(createBusy()));
      const timer = setTimeout(leave, maxWaitMs);
      signal?.addEventListener('abort', leave);
      line.add(enter);
    });
  }

  function leavePlace(): void {
    const [next] = line;
    if (next === undefined) {
      freePlaces += 1;
    } else {
      next();
    }
  }

  return {
    async verify(apiKey, signal) {
      const hash = hashOf(apiKey);
      if (wasRefused(hash)) {
        return { valid: false };
      }
      if (isAdmitted(hash)) {
        return await ask(apiKey, hash);
      }
      await takePlace(signal);
      if (wasRefused(hash)) {
        leavePlace();
        return { valid: false };
      }
      const slot = new Promise((resolve) => setTimeout(resolve, slotMs));
      try {
        return await ask(apiKey, hash);
      } finally {
        void slot.then(leavePlace);
      }
    },
  };
}

/** Memory holds no credential. */
export function hashOf(credential: string): string {
  return createHash('sha256').update(credential).digest('base64');
}

function createBusy(): PoolError {
  return new PoolError(
    'rate_limited',
    'too many API keys are being verified for the first time; try again in 1 s',
    { details: { retryAfterSeconds: 1 } },
  );
}
