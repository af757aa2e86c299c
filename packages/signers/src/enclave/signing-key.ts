/**
 * The key of an enclave: in its memory, or in a token that never gives it out.
 *
 * @module
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import {
  bytesToHex,
  type Hex,
  type Hex32,
  hexToBytes,
  type Secret,
  type WalletPub,
} from '@pool/core';
import { computeKeyWalletPub } from './sealed-key.ts';

export type SigningKey = {
  /** W, 33 bytes of SEC1. Public. */
  readonly walletPub: WalletPub;
  /** The same digest always has the same signature (RFC 6979). */
  readonly deterministic: boolean;
  /** @returns r ‖ s or r ‖ s ‖ v, as the key makes it; the caller normalises and recovers it */
  sign(digest: Hex32): Hex;
};

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
