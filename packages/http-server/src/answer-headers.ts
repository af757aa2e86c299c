/**
 * Headers of every answer, of a route or of the server itself.
 *
 * @module
 */

/** `Retry-After` where the error names no time, seconds. */
export const defaultRetryAfterSeconds = 5;

/**
 * Names the request, and forbids caching and content sniffing.
 *
 * @param requestId - the same as in the log
 */
export function createAnswerHeaders(requestId: string): Readonly<Record<string, string>> {
  return {
    'x-request-id': requestId,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
}
