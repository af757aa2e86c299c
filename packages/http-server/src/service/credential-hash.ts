/**
 * A credential is stored as its SHA-256 and compared in constant time (docs/decisions/0010).
 *
 * @module
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { bytesToHex } from '@pool/core';

/** SHA-256 of a random credential: 256 bits of entropy need no slow hash. */
export function hashCredential(credential: string): string {
  return bytesToHex(createHash('sha256').update(credential, 'utf8').digest());
}

export function isSameHash(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
