/**
 * The credentials of the gate's routes.
 *
 * @module
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { PoolError, type Secret } from '@pool/core';

/** @throws PoolError 401 `unauthorized` */
export function requireBearer(
  authorization: string | undefined,
  secret: Secret,
  what: string,
): void {
  const token = /^Bearer ([\x21-\x7e]{1,2048})$/i.exec(authorization ?? '')?.[1];
  if (token === undefined || !isSameSecret(token, secret.reveal())) {
    throw new PoolError('unauthorized', `send Authorization: Bearer with the ${what}`);
  }
}

/** Takes the same time for every difference: hashes have one length. */
function isSameSecret(a: string, b: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}
