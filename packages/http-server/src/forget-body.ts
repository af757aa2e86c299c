/**
 * Reads and drops the body of a request that was refused before its body was read.
 *
 * @module
 */
import type { IncomingMessage } from 'node:http';

/** How much is read, and for how long. */
export type ForgetLimits = { readonly maxBytes: number; readonly maxMs: number };

/**
 * Reads the rest of a body and drops it. The system resets a connection that is closed with unread bytes, and a reset
 * discards an answer that the client has not read yet: the client would see a broken connection instead of the reason.
 *
 * @returns when the body ends, when it exceeds a limit, or when the client disconnects
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
    // This listener stays: an error after the end must not be unhandled.
    request.on('error', finish);
    request.on('end', finish);
    request.on('close', finish);
    request.on('data', count);
    request.resume();
  });
}
