/**
 * What a failed call of the platform means for the agent's caller. A revoked edge token and an answer that does not fit
 * this version are permanent until someone acts, so neither is reported as an outage.
 *
 * @module
 */
import { errorCodeOf, isPoolError, PoolError } from './pool-error.ts';

/** The edge token is revoked or unknown. */
export const edgeTokenRefused = 'edge_token_refused';

/** The platform answers, but its answer does not fit this agent's version. */
export const platformInvalidResponse = 'platform_invalid_response';

/**
 * All are 503 for the caller of the agent. None repeats text of the platform that could hold a value.
 * @param what - what was asked for, for the message ("bootstrap", "the recipient look-up")
 * @param outage - the message for a platform that does not answer
 * @returns `edge_token_refused`, `platform_invalid_response`, or `platform_unreachable` (retryable)
 */
export function explainPlatformFailure(cause: unknown, what: string, outage: string): PoolError {
  if (isPoolError(cause)) {
    const { code, status, message } = cause;
    if (status === 401 || (status === 403 && code === 'forbidden')) {
      return new PoolError(
        edgeTokenRefused,
        'the platform refuses this agent\'s edge token: mint a new one with "platform edge-token create", put it into DISBURSE_PLATFORM_TOKEN and restart the agent',
        { cause },
      );
    }
    if (code === platformInvalidResponse) {
      return misunderstood(`${what}: ${message}`, cause);
    }
    if (status >= 400 && status < 500 && !cause.retryable) {
      return misunderstood(`the platform refuses ${what} of this agent with ${code}`, cause);
    }
  }
  return new PoolError('platform_unreachable', outage, {
    cause,
    details: { reason: errorCodeOf(cause) ?? 'unknown' },
  });
}

function misunderstood(found: string, cause: PoolError): PoolError {
  return new PoolError(
    platformInvalidResponse,
    `${found}. Check that DISBURSE_PLATFORM_URL names the platform, and that its version and the agent's fit`,
    { cause },
  );
}
