/**
 * Which caller sends a request (docs/decisions/0010): the agent's own loopback token, or an API key that the
 * platform verifies at every request.
 *
 * @module
 */
import type { Capability } from '@pool/api';
import { isSameSecret } from '@pool/configuration';
import { PoolError, type Secret } from '@pool/core';
import { createRateLimiter, type RateLimiter } from '@pool/http-server';
import { hashOf, type KeyGate } from '@pool/platform-client';
import { loopbackCredential } from '@pool/policy';

export type Principal =
  | { readonly kind: 'loopback' }
  /** @property address - of the wallet that minted the key. @property keyId - its id at the platform */
  | { readonly kind: 'api-key'; readonly address: string; readonly keyId: number };

/** As a release policy names it. */
export function credentialOf(principal: Principal): string {
  return principal.kind === 'loopback' ? loopbackCredential : `api-key:${principal.keyId}`;
}

export type BearerDeps = {
  readonly loopbackToken: Secret;
  /** Undefined: DISBURSE_PLATFORM_VERIFY_URL is not set. */
  readonly verifier: KeyGate | undefined;
  /** The agent's own employer, whose jobs can be read. @throws PoolError 503 while it is unknown */
  readonly employerId: () => string;
  /** Why this agent accepts nothing of the employer whose edge token it has. Undefined: it accepts. */
  readonly refusal: () => PoolError | undefined;
  /** By the hash of a credential. */
  readonly limiter: RateLimiter;
};

/** More than the live keys of many employers. */
const maxRemembered = 1_024;

/** @param perSecond - requests of one credential in the long run; after a pause it may send twice as many at once */
export function createCredentialLimiter(perSecond: number, nowMs: () => number): RateLimiter {
  const burst = Math.max(1, 2 * perSecond);
  return createRateLimiter({ perSecond, burst, nowMs, maxRemembered });
}

/** The token of an Authorization header; undefined for a header without a well-formed token. */
export function readBearer(authorization: string | undefined): string | undefined {
  return /^Bearer ([\x21-\x7e]{1,256})$/i.exec(authorization ?? '')?.[1];
}

/**
 * @param signal - aborted when the caller disconnects
 * @throws PoolError 401 `unauthorized`, 403 `forbidden`, 429 `rate_limited` (before the platform is asked), 503
 *   `verification_unavailable`: a credential that cannot be verified is refused
 */
export async function authenticate(
  authorization: string | undefined,
  capability: Capability,
  deps: BearerDeps,
  signal?: AbortSignal,
): Promise<Principal> {
  const token = readBearer(authorization);
  if (token === undefined) {
    throw unauthorized('send Authorization: Bearer with an API key or the loopback token');
  }
  const caller = hashOf(token);
  const isLoopback = isSameSecret(token, deps.loopbackToken.reveal());
  if (isLoopback) {
    deps.limiter.admit(caller);
  }
  deps.limiter.take(caller);
  if (isLoopback) {
    return { kind: 'loopback' };
  }
  if (!token.startsWith('pool_live_')) {
    throw unauthorized('the credential is not known');
  }
  if (deps.verifier === undefined) {
    throw new PoolError(
      'verification_unavailable',
      'API keys cannot be verified: DISBURSE_PLATFORM_VERIFY_URL is not set on this agent',
      { retryable: false },
    );
  }
  const key = await deps.verifier.verify(token, signal);
  if (!key.valid) {
    throw unauthorized('the API key is not known or was revoked');
  }
  if (key.employerId !== deps.employerId()) {
    // A directory of another employer: the key is right, and the directory or the edge token is not.
    const refusal = deps.refusal();
    throw refusal ?? forbidden();
  }
  if (key.capability !== capability) {
    throw forbidden();
  }
  deps.limiter.admit(caller);
  return { kind: 'api-key', address: key.address, keyId: key.keyId };
}

function forbidden(): PoolError {
  return new PoolError('forbidden', 'this API key does not reach this route of this agent');
}

function unauthorized(message: string): PoolError {
  return new PoolError('unauthorized', message);
}
