/**
 * `local-ed25519`: an ed25519 key in this process, for Solana and Stellar wallets (RFC 8032). It gives W and P, and
 * signs in. There is no pool on these chains in this repository, so it does not spend.
 *
 * @module
 */
import {
  bytesToHex,
  chainFamilies,
  computeEd25519SignInBytes,
  PoolError,
  parseEd25519SignIn,
  Secret,
  signInStatement,
  verifyEd25519SignIn,
} from '@pool/core';
import { viewingKeyMessage } from '@pool/notes';
import { openEd25519Key } from '../ed25519-funder/ed25519-key.ts';
import type { HolderSigner } from './holder-signer.ts';

export type LocalEd25519HolderOptions = {
  /** The seed of RFC 8032: 32 bytes of lower-case 0x-hex. */
  readonly privateKey: Secret;
};

/** @throws PoolError `invalid_configuration`, without the value */
export function createLocalEd25519Holder({ privateKey }: LocalEd25519HolderOptions): HolderSigner {
  const key = openEd25519Key(privateKey);
  const walletPub = bytesToHex(key.publicKey);
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
      const signature = bytesToHex(key.sign(computeEd25519SignInBytes(text.family, message)));
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
      return new Secret(key.sign(new TextEncoder().encode(viewingKeyMessage(domain))));
    },
  };
}
