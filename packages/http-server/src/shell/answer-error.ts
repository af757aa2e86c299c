/**
 * Errors as answers: `{code, message}` with the status of the error.
 *
 * @module
 */
import { type ErrorBody, isPoolError, PoolError } from '@pool/core';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { defaultRetryAfterSeconds } from '../answer-headers.ts';
import type { LogFields, ShellContext } from './shell-context.ts';

/**
 * A 401 names how to authenticate; 429 and 503 say when to try again.
 *
 * @param challenge - `WWW-Authenticate` of a 401
 */
export function answerError(c: ShellContext, error: PoolError, challenge: string): Response {
  const { code, message, status, details } = error;
  const body: ErrorBody = { code, message };
  c.set('answeredCode', code);
  if (status === 401) {
    c.header('www-authenticate', challenge);
  }
  if (status === 429 || status === 503) {
    c.header('retry-after', String(details?.['retryAfterSeconds'] ?? defaultRetryAfterSeconds));
  }
  return c.json(body, status as ContentfulStatusCode);
}

/** Answers any error of a route. For an unexpected error, the answer contains only the request id. */
export function answerFailure(
  c: ShellContext,
  error: unknown,
  options: {
    readonly challenge: string;
    readonly describeFailure: (error: unknown) => LogFields;
  },
): Response {
  return answerError(c, describeAsPoolError(c, error, options.describeFailure), options.challenge);
}

function describeAsPoolError(
  c: ShellContext,
  error: unknown,
  describeFailure: (error: unknown) => LogFields,
): PoolError {
  // The caller disconnected while its body was read: nothing failed here, and no one reads the answer.
  if (c.req.raw.signal.aborted) {
    return new PoolError('invalid_request', 'the client aborted the request');
  }
  if (isPoolError(error)) {
    return error;
  }
  c.get('log').error(describeFailure(error), 'request failed');
  return new PoolError('internal_error', `internal error; request ${c.get('requestId')}`);
}
