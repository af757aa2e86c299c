/**
 * The Idempotency-Key of a payment, and how it travels in the header of that name: 1–255 printable ASCII
 * characters, bare or as the quoted string of a structured field (RFC 8941 §3.3.3). Both spellings name the
 * same key. Every service uses this parser: two interpretations of one header would be two payments.
 *
 * @module
 */
import { PoolError } from '../errors/pool-error.ts';

/**
 * True for 1–255 printable ASCII characters without a space at either end. `.` and `..` are refused:
 * a key is also a segment of a URL's path, where they would mean something else.
 */
export function isIdempotencyKey(key: string): boolean {
  return /^[\x20-\x7e]{1,255}$/.test(key) && key.trim() === key && key !== '.' && key !== '..';
}

/**
 * The key that a header value names. A value that begins with `"` is the quoted form, where `\"` and `\\`
 * stand for `"` and `\`; every other value is the key itself.
 * @throws PoolError `invalid_request`
 */
export function parseIdempotencyKey(headerValue: string | undefined): string {
  if (headerValue === undefined || headerValue === '') {
    throw refused('the header Idempotency-Key is required');
  }
  const key = headerValue.startsWith('"') ? unquote(headerValue) : headerValue;
  if (key === undefined || !isIdempotencyKey(key)) {
    throw refused(
      'Idempotency-Key must be 1 to 255 printable ASCII characters, without a space at either end, ' +
        'and not . or ..',
    );
  }
  return key;
}

/**
 * The header value to send for a key: the quoted form, the one spelling that is right for every key.
 * @throws PoolError `invalid_request` for a malformed key
 */
export function formatIdempotencyKey(key: string): string {
  if (!isIdempotencyKey(key)) {
    throw refused('the Idempotency-Key is malformed: use 1 to 255 printable ASCII characters');
  }
  return `"${key.replace(/["\\]/g, '\\$&')}"`;
}

function unquote(value: string): string | undefined {
  const inner = /^"((?:[^"\\]|\\["\\])*)"$/.exec(value)?.[1];
  return inner?.replace(/\\(["\\])/g, '$1');
}

function refused(message: string): PoolError {
  return new PoolError('invalid_request', message);
}
