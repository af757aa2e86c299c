/**
 * `local-ed25519`: an ed25519 key in this process, for Solana and Stellar wallets (RFC 8032). It gives W and P, and
 * signs in. There is no pool on these chains in this repository, so it does not spend.
 *
 * @module
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import {
  bytesToHex,
  chainFamilies,
  computeEd25519SignInBytes,
  hexToBytes,
  PoolError,
  parseEd25519SignIn,
  Secret,
  signInStatement,
  verifyEd25519SignIn,
} from '@pool/core';
import { viewingKeyMessage } from '@pool/notes';
import type { HolderSigner } from './holder-signer.ts';

export type LocalEd25519HolderOptions = {
  /** The seed of RFC 8032: 32 bytes of lower-case 0x-hex. */
  readonly privateKey: Secret;
};

/** @throws PoolError `invalid_configuration`, without the value */
export function createLocalEd25519Holder({ privateKey }: LocalEd25519HolderOptions): HolderSigner {
  const publicKey = computePublicKey(privateKey);
  const walletPub = bytesToHex(publicKey);
  return {
    name: 'local-ed25519',
    curve: 'ed25519',
    deterministic: true,
    walletPub: async () => walletPub,
    async signIn({ message, expected, encryptionPublicKey }, { signal } = {}) {
      signal?.throwIfAborted();
      const text = parseEd25519SignIn(message);
      const isOwn =
        text.address === chainFamilies[text.family].formatAddress(walletPub) &&
        text.domain === expected.domain &&
        text.uri === expected.uri &&
        text.statement === signInStatement &&
        text.encryptionPublicKey === encryptionPublicKey;
      if (!isOwn) {
        throw new PoolError(
          'signer_refused',
          'the sign-in text is not for this wallet, this platform or this encryption key, or its statement is not the platform’s; nothing was signed',
        );
      }
      const seed = hexToBytes(privateKey.reveal(), 32);
      const signature = bytesToHex(
        ed25519.sign(computeEd25519SignInBytes(text.family, message), seed),
      );
      seed.fill(0);
      verifyEd25519SignIn({ message, signature }, text);
      return signature;
    },
    async signSpend() {
      throw new PoolError(
        'holder_unsupported',
        'a spend is authorised by a secp256k1 signature, and this repository has no pool on Solana or Stellar; an ed25519 holder cannot spend',
      );
    },
    async signDisclosure() {
      throw new PoolError(
        'holder_unsupported',
        'a disclosure is signed by a secp256k1 wallet, and this repository has no pool on Solana or Stellar; an ed25519 holder has no payments to disclose',
      );
    },
    async signViewingKeyText(domain) {
      // Wallets of these chains sign the bytes of a text as they are, without the prefix of EIP-191.
      const text = new TextEncoder().encode(viewingKeyMessage(domain));
      const seed = hexToBytes(privateKey.reveal(), 32);
      const signature = ed25519.sign(text, seed);
      seed.fill(0);
      if (!ed25519.verify(signature, text, publicKey)) {
        throw new PoolError(
          'signature_rejected',
          'the signature was rejected: it was not made by the expected key for this document',
        );
      }
      return new Secret(signature);
    },
  };
}

function computePublicKey(privateKey: Secret): Uint8Array {
  try {
    return ed25519.getPublicKey(hexToBytes(privateKey.reveal(), 32));
  } catch {
    // The cause is dropped on purpose: parsers repeat their input in messages.
    throw new PoolError(
      'invalid_configuration',
      'the ed25519 private key must be its 32-byte seed, as lower-case hex with 0x',
    );
  }
}
