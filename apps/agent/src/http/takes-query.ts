/**
 * The query parameters that a route takes. A misspelt one would otherwise be ignored, and the answer would be about something else.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { MiddlewareHandler } from 'hono';

/** @throws PoolError 400 `invalid_request` for a parameter with another name */
export function takesQuery(...names: readonly string[]): MiddlewareHandler {
  return async (context, next) => {
    if (Object.keys(context.req.queries()).some((name) => !names.includes(name))) {
      throw new PoolError(
        'invalid_request',
        names.length === 0
          ? 'the query: this route takes no parameters'
          : `the query: this route takes only ${names.join(', ')}`,
      );
    }
    await next();
  };
}
