/**
 * Stands before the platform's verify-key, so that made-up keys can neither press the platform nor keep a good
 * key out (docs/decisions/0009, §26). Nobody can tell a made-up key from the first use of a good one, so all of them
 * wait in one line, in the order they came; keys that have authenticated before pass by it.
 *
 * What this guarantees, in one process: the platform sees at most {@link maxAsked} questions about strangers at
 * once and {@link maxAsked} in any {@link slotMs}; and while it answers within that time, a good key is asked
 * about after at most {@link maxWaiting} others, in about five seconds. The line cannot be longer than the server
 * has connections, since a connection has one request under way and a caller who hangs up leaves the line.
 *
 * A refusal is remembered for a moment, an acceptance never: a revocation bites at the next request.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import type { VerifiedKey } from '@pool/api';
import { PoolError } from '@pool/core';
import type { KeyVerifier } from '@pool/platform-client';

export type KeyGate = {
  /**
   * @param signal - the caller went away
   * @throws PoolError 429 `rate_limited` when the line is too long or does not move; what the verifier throws
   */
  verify(apiKey: string, signal?: AbortSignal): Promise<VerifiedKey>;
};

export type KeyGateOptions = {
  readonly verifier: KeyVerifier;
  /** Whether the key of a hash has authenticated lately, so that it need not wait in line. */
  readonly isAdmitted: (hash: string) => boolean;
  /** Milliseconds, better monotonic. */
  readonly nowMs: () => number;
};

/** Strangers asked about at once. */
const maxAsked = 8;
/** How long each takes its place at least: 100 a second, a tenth of what the platform grants an edge token. */
const slotMs = 80;
/** As many as the server takes connections. */
export const maxWaiting = 512;
/** When the platform hardly answers, callers shall hear so. */
const maxWaitMs = 10_000;
/** A key that was refused may be good a moment later: minted, or its employer moved here. */
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
    // Somebody who is gone already says so no second time.
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
    { status: 429, retryable: true, details: { retryAfterSeconds: 1 } },
  );
}
