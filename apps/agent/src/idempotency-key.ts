/**
 * The Idempotency-Key header (docs/decisions): 1–255 printable ASCII characters; the quoted form of a
 * structured field names the same key as the bare one.
 *
 * @module
 */
import { PoolError } from '@pool/core';

const printable = /^[\x20-\x7e]{1,255}$/;

/** @throws PoolError `invalid_request` */
export function parseIdempotencyKey(header: string | undefined): string {
  const value = header?.trim();
  if (value === undefined || value === '') {
    throw refused('the header Idempotency-Key is required');
  }
  const key = value.startsWith('"') ? unquote(value) : value;
  if (key === undefined || !printable.test(key)) {
    throw refused('Idempotency-Key must be 1 to 255 printable ASCII characters');
  }
  return key;
}

/** The content of `"..."`, where only `"` and `\` are escaped; undefined when it is not well formed. */
function unquote(value: string): string | undefined {
  const inner = /^"((?:[^"\\]|\\["\\])*)"$/.exec(value)?.[1];
  return inner?.replace(/\\(["\\])/g, '$1');
}

function refused(message: string): PoolError {
  return new PoolError('invalid_request', message);
}
