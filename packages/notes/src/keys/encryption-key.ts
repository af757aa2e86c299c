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
  hexToBytes,
  PoolError,
  parseEncryptionPublicKey,
} from '@pool/core';
import type { CurvePoint } from '@pool/kernels';
import { exchange, multiplyBase, packPoint, unpackPoint } from './baby-jubjub.ts';
import { assertViewingKey } from './viewing-key.ts';

/** The point P in affine coordinates, as a commitment contains it. Public. */
export type EncryptionPoint = CurvePoint;

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

/** Packs a point that is known to be in the subgroup, for example a multiple of a subgroup point. */
export function packSubgroupPoint(point: EncryptionPoint): EncryptionPublicKey {
  return parseEncryptionPublicKey(bytesToHex(packPoint(point)));
}

/**
 * Unpacks and fully checks P: y < r, on the curve, in the subgroup, not the identity, no sign bit at x = 0.
 * @throws PoolError `invalid_encryption_key`
 */
export function decodeEncryptionPublicKey(encryptionPublicKey: string): EncryptionPoint {
  const point = unpackPoint(parseBytes(encryptionPublicKey));
  if (point === undefined) {
    throw createKeyError();
  }
  return point;
}

/**
 * The Diffie–Hellman exchange of a scalar with P.
 * @param scalar - 1 … l-1, secret
 * @returns scalar·B8, and scalar·P, which is secret, both packed
 * @throws PoolError `invalid_encryption_key` unless {@link decodeEncryptionPublicKey} accepts P
 */
export function exchangeWithKey(
  encryptionPublicKey: string,
  scalar: bigint,
): { readonly own: Uint8Array; readonly shared: Uint8Array } {
  const points = exchange(parseBytes(encryptionPublicKey), scalar);
  if (points === undefined) {
    throw createKeyError();
  }
  return points;
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
