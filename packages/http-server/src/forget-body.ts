/**
 * What is done with a body that nobody reads, because the request was refused before.
 *
 * @module
 */
import type { IncomingMessage } from 'node:http';

/** How much of it, and for how long. */
export type ForgetLimits = { readonly maxBytes: number; readonly maxMs: number };

/**
 * Reads what is left of a body and forgets it. A connection that ends with bytes unread is reset by the
 * system, and a reset takes back an answer that the client has not read yet: it would learn of a broken
 * connection, and not that its body is too large.
 *
 * @returns once the body is at its end, more than the limits allow has come, or the client is gone
 */
export function forgetBody(request: IncomingMessage, limits: ForgetLimits): Promise<void> {
  return new Promise((resolve) => {
    if (request.complete || request.destroyed) {
      resolve();
      return;
    }
    let bytes = 0;
    const timer = setTimeout(finish, limits.maxMs);
    function count(chunk: Uint8Array): void {
      bytes += chunk.length;
      if (bytes > limits.maxBytes) {
        request.pause();
        finish();
      }
    }
    function finish(): void {
      clearTimeout(timer);
      request.off('data', count);
      request.off('end', finish);
      request.off('close', finish);
      resolve();
    }
    // Stays: a client that goes later breaks nothing either.
    request.on('error', finish);
    request.on('end', finish);
    request.on('close', finish);
    request.on('data', count);
    request.resume();
  });
}
