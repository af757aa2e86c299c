/**
 * Canonical JSON (RFC 8785) and its SHA-256: the one byte string behind request fingerprints, manifests
 * and batch nonces.
 *
 * @module
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import canonicalize from 'canonicalize';
import { PoolError } from '../errors/pool-error.ts';
import { bytesToHex32, type Hex32 } from '../values/hex.ts';

/** RFC 8785 text of a JSON value. @throws PoolError `invalid_value` for values JSON cannot hold */
export function canonicalJson(value: unknown): string {
  let text: string | undefined;
  try {
    text = canonicalize(value);
  } catch (cause) {
    throw new PoolError('invalid_value', 'value has no canonical JSON form', { cause });
  }
  if (text === undefined) {
    throw new PoolError('invalid_value', 'value has no canonical JSON form');
  }
  return text;
}

/** SHA-256 over the UTF-8 bytes of {@link canonicalJson}. */
export function canonicalDigest(value: unknown): Hex32 {
  return bytesToHex32(sha256(utf8ToBytes(canonicalJson(value))));
}
