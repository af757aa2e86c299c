/**
 * What every answer carries, whether a route gave it or the server refused before any route.
 *
 * @module
 */

/**
 * When to come back, if nobody knows better: what is busy or down now is worth another try shortly. Seconds.
 */
export const defaultRetryAfterSeconds = 5;

/**
 * Names the request, and keeps caches and guesses about types away from the answer.
 *
 * @param requestId - as it stands in the log
 */
export function createAnswerHeaders(requestId: string): Readonly<Record<string, string>> {
  return {
    'x-request-id': requestId,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
}
