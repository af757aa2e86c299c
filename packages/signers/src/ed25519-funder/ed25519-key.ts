/**
 * An ed25519 key in this process (RFC 8032), of a funder or a holder on Solana and Stellar.
 *
 * @module
 */

import { ed25519 } from '@noble/curves/ed25519.js';
import { hexToBytes, PoolError, type Secret } from '@pool/core';
import { invalidConfiguration } from '../config.ts';

export type Ed25519Key = {
  /** W, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** @returns 64 bytes. @throws PoolError `signature_rejected` */
  sign(bytes: Uint8Array): Uint8Array;
};

/**
 * @param seed - 32 bytes of lower-case 0x-hex
 * @throws PoolError `invalid_configuration`, without the value
 */
export function openEd25519Key(seed: Secret): Ed25519Key {
  const publicKey = computePublicKey(seed);
  return {
    publicKey,
    sign(bytes) {
      const key = hexToBytes(seed.reveal(), 32);
      const signature = ed25519.sign(bytes, key);
      key.fill(0);
      // A fault in the computation of one reveals the key.
      if (!ed25519.verify(signature, bytes, publicKey, { zip215: false })) {
        throw new PoolError(
          'signature_rejected',
          'the signature was rejected: it was not made by the expected key for this document',
        );
      }
      return signature;
    },
  };
}

function computePublicKey(seed: Secret): Uint8Array {
  try {
    return ed25519.getPublicKey(hexToBytes(seed.reveal(), 32));
  } catch {
    // The cause is dropped on purpose: parsers repeat their input in messages.
    throw invalidConfiguration(
      'the ed25519 private key must be its 32-byte seed, as lower-case hex with 0x',
    );
  }
}
