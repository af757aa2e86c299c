/**
 * `local-key` as a holder's signer: a secp256k1 key in this process, for EVM wallets. For development: anyone who can read the
 * process's memory can read the key.
 *
 * @module
 */
import { type EncryptionPublicKey, PoolError, type Secret } from '@pool/core';
import { createLocalKeySigner, openLocalKey } from '../local-key.ts';
import type { HolderSigner } from './holder-signer.ts';
import { createSignerHolder } from './remote-holder.ts';

export type LocalKeyHolderOptions = {
  /** secp256k1 private key: 32 bytes of lower-case 0x-hex, or the bytes. Once the caller wipes the bytes, the signer signs nothing. */
  readonly privateKey: Secret<string | Uint8Array>;
  /** Clock that the dates of sign-in texts are compared with, milliseconds since the epoch. Default: the system clock. */
  readonly nowMs?: () => number;
};

/** @throws PoolError `invalid_configuration`, without the value */
export function createLocalKeyHolder(options: LocalKeyHolderOptions): HolderSigner {
  const { walletPub } = openLocalKey(options.privateKey);
  // The requests of a funder (authorisations, permits, approvals) are refused.
  const open = (encryptionPublicKey?: EncryptionPublicKey): HolderSigner =>
    createSignerHolder(
      {
        ...{ name: 'local-key', walletPub, pollMs: 0, sleep: async () => undefined },
        signer: createLocalKeySigner({
          ...options,
          allow: {
            kinds: ['sign-in', 'viewing-key', 'spend', 'disclosure'],
            ...(encryptionPublicKey === undefined ? {} : { encryptionPublicKey }),
          },
        }),
      },
      PoolError,
    );
  return {
    ...open(),
    signIn: (request, signOptions) =>
      open(request.encryptionPublicKey).signIn(request, signOptions),
  };
}
