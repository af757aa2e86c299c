/**
 * P, the holder's encryption key (protocol §2). For secp256k1 wallets: a Baby Jubjub subgroup point in iden3's packing, 32 bytes,
 * y little-endian, bit 255 set if and only if x > (r-1)/2. Every point has exactly one valid encoding, so two different strings are
 * always two different keys. For ed25519 wallets: an X25519 public key (RFC 7748). Vectors: vectors/encryption-key.json.
 *
 * @module
 */
import { x25519 } from '@noble/curves/ed25519.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import {
  bigintToBytes,
  bytesToBigint,
  bytesToHex,
  type EncryptionPublicKey,
  fieldModulus,
  hexToBytes,
  PoolError,
  parseEncryptionPublicKey,
} from '@pool/core';
import { type CurvePoint, computeSmallX, isSubgroupPoint, multiplyBase } from './baby-jubjub.ts';
import { assertViewingKey } from './viewing-key.ts';

/** The point P in affine coordinates, as a commitment contains it. Public. */
export type EncryptionPoint = CurvePoint;

const signBit = 0x80;

/**
 * P = v·B8.
 * @param viewingKey - v, secret
 * @throws PoolError `invalid_viewing_key`
 */
export function computeEncryptionPublicKey(viewingKey: bigint): EncryptionPublicKey {
  return packSubgroupPoint(multiplyBase(assertViewingKey(viewingKey)));
}

const x25519Info = utf8ToBytes('pool/v1/x25519');

/**
 * P of an ed25519 wallet: the X25519 public key of HKDF-SHA256(ikm = v, no salt, info "pool/v1/x25519", 32 bytes). So one scalar
 * serves every chain, and the keys of two curves cannot be linked by those who only see them.
 * @param viewingKey - v, secret
 * @throws PoolError `invalid_viewing_key`
 */
export function computeX25519PublicKey(viewingKey: bigint): EncryptionPublicKey {
  const ikm = bigintToBytes(assertViewingKey(viewingKey), 32);
  const secretKey = hkdf(sha256, ikm, undefined, x25519Info, 32);
  return parseEncryptionPublicKey(bytesToHex(x25519.getPublicKey(secretKey)));
}

/**
 * Packs a point. @throws PoolError `invalid_encryption_key` unless it is a subgroup point and not the identity
 */
export function encodeEncryptionPoint(point: EncryptionPoint): EncryptionPublicKey {
  if (!isSubgroupPoint(point)) {
    throw createKeyError();
  }
  return packSubgroupPoint(point);
}

/** Packs a point that is known to be in the subgroup, for example a multiple of a subgroup point. */
export function packSubgroupPoint(point: EncryptionPoint): EncryptionPublicKey {
  const bytes = bigintToBytes(point.y, 32).reverse();
  const high = bytes[31] ?? 0;
  bytes[31] = point.x > (fieldModulus - 1n) / 2n ? high | signBit : high;
  return parseEncryptionPublicKey(bytesToHex(bytes));
}

/**
 * Unpacks and fully checks P: y < r, on the curve, in the subgroup, not the identity, no sign bit at x = 0.
 * @throws PoolError `invalid_encryption_key`
 */
export function decodeEncryptionPublicKey(encryptionPublicKey: string): EncryptionPoint {
  const bytes = parseBytes(encryptionPublicKey);
  const high = bytes[31] ?? 0;
  const isLarge = (high & signBit) !== 0;
  bytes[31] = high & ~signBit;
  const y = bytesToBigint(bytes.reverse());
  // y and y + r would be two encodings of one key.
  const smallX = y < fieldModulus ? computeSmallX(y) : undefined;
  if (smallX === undefined || (smallX === 0n && isLarge)) {
    throw createKeyError();
  }
  const point = { x: isLarge ? fieldModulus - smallX : smallX, y };
  // A point with a small-order component would leak v modulo 8 to the party that supplied it.
  if (!isSubgroupPoint(point)) {
    throw createKeyError();
  }
  return point;
}

/**
 * Checks the P of an ed25519 wallet: canonical (u < 2^255 - 19, so that two texts are two keys), and not of small order, because
 * everybody could open what is sealed to such a key.
 * @throws PoolError `invalid_encryption_key`
 */
export function assertX25519PublicKey(encryptionPublicKey: string): void {
  try {
    const bytes = hexToBytes(encryptionPublicKey, 32);
    const u = bytesToBigint(Uint8Array.from(bytes).reverse());
    if (u < 2n ** 255n - 19n) {
      // Throws for a key of small order.
      x25519.getSharedSecret(new Uint8Array(32).fill(9), bytes);
      return;
    }
  } catch {
    // One answer for everything that is not a key.
  }
  throw new PoolError(
    'invalid_encryption_key',
    'encryptionPublicKey must be an X25519 public key for an ed25519 wallet: 32 bytes of lower-case hex with 0x, canonical, not of small order',
  );
}

function parseBytes(encryptionPublicKey: string): Uint8Array {
  try {
    return hexToBytes(encryptionPublicKey, 32);
  } catch (cause) {
    throw createKeyError(cause);
  }
}

function createKeyError(cause?: unknown): PoolError {
  return new PoolError(
    'invalid_encryption_key',
    'encryptionPublicKey must be a packed Baby Jubjub subgroup point: 32 bytes of lower-case hex with 0x',
    { cause },
  );
}
