/**
 * The largest body of a route, checked by its declared length and while it is read.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { ShellContext, ShellEnv } from './shell-context.ts';

/**
 * @param maxBytes - of the body
 * @param answer - replaces the 413 `payload_too_large`
 */
export function limitBody(
  maxBytes: number,
  answer?: (c: ShellContext, message: string) => Response,
): MiddlewareHandler<ShellEnv> {
  const message = `the request body is larger than ${maxBytes} bytes`;
  return bodyLimit({
    maxSize: maxBytes,
    onError(c: ShellContext) {
      if (answer !== undefined) {
        return answer(c, message);
      }
      throw new PoolError('payload_too_large', message);
    },
  });
}
