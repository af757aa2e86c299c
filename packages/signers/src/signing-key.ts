/**
 * A secp256k1 key that signs: in this process's memory, or in a token that never gives it out.
 *
 * @module
 */

import { secp256k1 } from '@noble/curves/secp256k1.js';
import {
  bytesToHex,
  encodeWalletPub,
  type Hex,
  type Hex32,
  hexToBytes,
  type Secret,
  type WalletPub,
} from '@pool/core';
import { invalidConfiguration } from './config.ts';

export type SigningKey = {
  /** W, 33 bytes of SEC1. Public. */
  readonly walletPub: WalletPub;
  /** The same digest always has the same signature (RFC 6979). */
  readonly deterministic: boolean;
  /** @returns r ‖ s or r ‖ s ‖ v, as the key makes it; the caller normalises and recovers it */
  sign(digest: Hex32): Hex;
};

/** W of a signing key. @throws PoolError `invalid_configuration`, without the value */
export function computeKeyWalletPub(key: Secret<Uint8Array>): WalletPub {
  try {
    const point = secp256k1.Point.fromBytes(secp256k1.getPublicKey(key.reveal()));
    return encodeWalletPub(point.toAffine());
  } catch {
    // The cause is dropped on purpose: parsers repeat their input in messages.
    throw invalidConfiguration('the signing key is not 32 bytes between 1 and the group order');
  }
}

/** @param key - 32 bytes. @throws PoolError `invalid_configuration`, without the value */
export function createMemoryKey(key: Secret<Uint8Array>): SigningKey {
  return {
    walletPub: computeKeyWalletPub(key),
    deterministic: true,
    sign(digest) {
      const recovered = secp256k1.sign(hexToBytes(digest, 32), key.reveal(), {
        prehash: false,
        lowS: true,
        format: 'recovered',
      });
      return bytesToHex(Uint8Array.from([...recovered.subarray(1), recovered[0] ?? 0]));
    },
  };
}
