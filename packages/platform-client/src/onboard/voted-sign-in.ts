/**
 * A sign-in text that people or a policy vote on. The command waits as long as the platform accepts the text, through outages of the
 * custodian.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Hex, isPoolError, PoolError } from '@pool/core';
import type { HolderSigner, HolderSignIn } from '@pool/signers';
import { readExpirationMs } from './pending-sign-in.ts';

/** What the command waits for. */
export type SignInWait = {
  readonly state: 'submitted' | 'awaiting-approval' | 'signing' | 'unreachable';
  /** The custodian's id of the request, where it answered. */
  readonly providerId?: string;
  /** Code of the outage. */
  readonly code?: string;
};

export type VoteOptions = {
  readonly signal: AbortSignal;
  readonly onWait: (wait: SignInWait) => void;
  /** Pause between two tries of a custodian that does not answer, milliseconds. */
  readonly retryMs: number;
};

/** @throws PoolError `signer_expired` if the text is no longer valid; `signer_refused` with the reason */
export async function signInByVote(
  signer: HolderSigner,
  request: HolderSignIn,
  { signal, onWait, retryMs }: VoteOptions,
): Promise<Hex> {
  const expiresAtMs = readExpirationMs(request.message);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), Math.min(expiresAtMs - Date.now(), 2 ** 31 - 1));
  try {
    for (;;) {
      try {
        return await signer.signIn(request, {
          signal: AbortSignal.any([signal, late.signal]),
          onProgress: ({ state, providerId }) => onWait({ state, providerId }),
        });
      } catch (error) {
        if (late.signal.aborted) {
          throw createExpired(expiresAtMs);
        }
        if (signal.aborted || !isPoolError(error) || !error.retryable) {
          throw error;
        }
        onWait({ state: 'unreachable', code: error.code });
      }
      await sleep(retryMs, undefined, { signal });
    }
  } finally {
    clearTimeout(timer);
  }
}

function createExpired(expiresAtMs: number): PoolError {
  return new PoolError(
    'signer_expired',
    `the vote on the sign-in did not end before ${new Date(expiresAtMs).toISOString()}, when the platform stops to accept it. Run the command again for a new request, or ask the operator of the platform for more time (PLATFORM_NONCE_TTL_SECONDS)`,
  );
}
