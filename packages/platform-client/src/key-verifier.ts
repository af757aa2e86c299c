/**
 * Asks the platform whether an API key presented to the agent is valid (docs/decisions/0010). Nothing is cached: a revocation
 * takes effect at the next request.
 *
 * @module
 */
import { platformRoutes, type VerifiedKey } from '@pool/api';
import { explainPlatformFailure, PoolError, parseServiceUrl, type Secret } from '@pool/core';
import type { Fetch } from '@pool/http-client';
import { callJson } from './json-call.ts';

export type KeyVerifierOptions = {
  /** The full address of `POST /api/employers/verify-key` (`DISBURSE_PLATFORM_VERIFY_URL`). */
  readonly verifyUrl: string;
  /** The agent's edge token. */
  readonly edgeToken: Secret;
  readonly fetch?: Fetch;
  readonly timeoutMs?: number;
};

export type KeyVerifier = {
  /**
   * @returns the platform's answer; `{valid: false}` for an unknown, revoked or malformed key
   * @throws PoolError `verification_unavailable` (503, retryable) for every other outcome. The caller must then refuse access
   */
  verify(apiKey: string): Promise<VerifiedKey>;
};

// Text of another shape is not a key of this platform and is not sent.
const apiKeyPattern = /^pool_live_[A-Za-z0-9]{8}_[1-9A-HJ-NP-Za-km-z]{32,64}$/;

export function createKeyVerifier(options: KeyVerifierOptions): KeyVerifier {
  const url = parseServiceUrl(options.verifyUrl, 'the verify url');
  const send = options.fetch ?? fetch;
  return {
    async verify(apiKey) {
      if (!apiKeyPattern.test(apiKey)) {
        return { valid: false };
      }
      try {
        const { value } = await callJson({
          fetch: send,
          service: 'platform',
          route: platformRoutes.verifyKey,
          url,
          headers: { authorization: `Bearer ${options.edgeToken.reveal()}` },
          body: { apiKey },
          timeoutMs: options.timeoutMs ?? 10_000,
        });
        return value;
      } catch (cause) {
        const why = explainPlatformFailure(
          cause,
          'the verification of the API key',
          'the API key could not be verified with the platform; try again',
        );
        throw new PoolError('verification_unavailable', why.message, { cause });
      }
    },
  };
}
