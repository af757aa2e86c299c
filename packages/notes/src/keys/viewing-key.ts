/**
 * v, the viewing key (protocol §2). Its owner can read a wallet's notes on every chain, and cannot spend them. It is either
 * derived (HKDF, RFC 5869) from a deterministic signature (RFC 6979, RFC 8032) of the wallet, or made once with
 * {@link createViewingKey} and supplied by the operator. It is never generated implicitly. Vectors: vectors/viewing-key.json.
 *
 * @module
 */
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { bytesToBigint, hexToBigint, PoolError, parseHex } from '@pool/core';
import { subgroupOrder } from './baby-jubjub.ts';

const salt = utf8ToBytes('pool/v1/viewing');

/**
 * Parses an escrowed viewing key.
 * @param value - 32 bytes big-endian as `0x` hex, 1 ≤ v < l
 * @returns v, secret
 * @throws PoolError `invalid_viewing_key`, which never repeats the value
 */
export function parseViewingKey(value: unknown): bigint {
  let scalar: bigint;
  try {
    scalar = hexToBigint(parseHex(value, 32));
  } catch {
    throw createViewingKeyError();
  }
  return assertViewingKey(scalar);
}

/** @throws PoolError `invalid_viewing_key` unless 1 ≤ v < l */
export function assertViewingKey(scalar: bigint): bigint {
  if (scalar < 1n || scalar >= subgroupOrder) {
    throw createViewingKeyError();
  }
  return scalar;
}

/**
 * The only text that a wallet signs (EIP-191) to derive its viewing key. Other kinds of request must refuse it: its signature is
 * as secret as v.
 *
 * @param domain - authority of the platform, as in its sign-in texts, for example `pool.example:8443`
 * @throws PoolError `invalid_value` for a space, a line break or a character outside ASCII
 */
export function viewingKeyMessage(domain: string): string {
  if (!/^[!-~]{1,255}$/.test(domain)) {
    throw new PoolError('invalid_value', 'the domain must be 1 to 255 printable ASCII characters');
  }
  return [
    `${domain} asks this wallet for its viewing key.`,
    '',
    'Purpose: pool/v1/viewing',
    `Domain: ${domain}`,
    '',
    'The signature over this text opens every note this wallet receives.',
    'It moves no money. Sign it for your own agent only, and show the signature to nobody.',
  ].join('\n');
}

/**
 * v = 1 + (HKDF-SHA256(ikm = signature, salt, no info, 48 bytes big-endian) mod (l-1)).
 *
 * @param signature - 64 bytes, secret: r ‖ s with low s and without v, or an ed25519 signature. The caller has
 *   checked that its signer is deterministic: the same text signed twice gives the same bytes.
 * @returns v, secret
 * @throws PoolError `invalid_signature` for another length
 */
export function deriveViewingKey(signature: Uint8Array): bigint {
  if (signature.length !== 64) {
    throw new PoolError('invalid_signature', 'the signature for a viewing key must be 64 bytes');
  }
  return reduceToViewingKey(hkdf(sha256, signature, salt, undefined, 48));
}

/**
 * A viewing key of its own, for a signer whose signatures cannot be repeated: 1 + (entropy mod (l-1)), as in the derivation.
 *
 * @param entropy - 48 random bytes, secret. More than the 32 of a scalar, so that the remainder is uniform to 2^-128
 * @returns v, secret. It cannot be derived again: its owner stores it
 * @throws PoolError `invalid_value` for another length
 */
export function createViewingKey(entropy: Uint8Array): bigint {
  if (entropy.length !== 48) {
    throw new PoolError('invalid_value', 'the entropy of a viewing key must be 48 bytes');
  }
  return reduceToViewingKey(entropy);
}

function reduceToViewingKey(wide: Uint8Array): bigint {
  return 1n + (bytesToBigint(wide) % (subgroupOrder - 1n));
}

function createViewingKeyError(): PoolError {
  return new PoolError(
    'invalid_viewing_key',
    'the viewing key must be 32 bytes of lower-case hex with 0x, from 1 to below the Baby Jubjub subgroup order',
  );
}
