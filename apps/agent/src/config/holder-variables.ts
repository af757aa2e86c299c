/**
 * The variables of the holder's signer and keys, a part of the table in variables.ts.
 *
 * @module
 */
import * as kinds from './kinds.ts';

export const holderVariables = {
  holderSigner: {
    name: 'DISBURSE_HOLDER_SIGNER',
    role: 'holder, identity',
    purpose:
      "the holder's signer, independent of `DISBURSE_SIGNER`. `enclave` and `custodian_a` require their own variables; no holder signer exists for custodian B. `local-ed25519` is for Solana and Stellar: it has an identity there, and no pool to spend from",
    kind: kinds.holderSigner,
    fallback: () => 'local-key' as const,
  },
  holderPrivateKey: {
    name: 'DISBURSE_HOLDER_PRIVATE_KEY',
    role: 'holder, identity',
    purpose: "the holder's key for `local-key`, for development",
    kind: kinds.privateKey,
    whenUnset: 'none',
    credential: { fields: ['privateKey'] },
  },
  holderEd25519Key: {
    name: 'DISBURSE_HOLDER_ED25519_KEY',
    role: 'holder, identity',
    purpose: "the holder's key for `local-ed25519`, for development: the seed of RFC 8032",
    kind: kinds.privateKey,
    whenUnset: 'none',
    credential: { fields: ['privateKey'] },
  },
  holderWalletPub: {
    name: 'DISBURSE_HOLDER_WALLET_PUB',
    role: 'holder, identity',
    purpose:
      'W of the holder, for a machine that only reads: with `DISBURSE_HOLDER_VIEWING_KEY` and without a key of the signer, `identity`, balance and history work, and nothing can be signed. With a key it is compared: another W is an error',
    kind: kinds.walletPub,
    whenUnset: 'from the signer',
  },
  holderViewingKey: {
    name: 'DISBURSE_HOLDER_VIEWING_KEY',
    role: 'holder, identity',
    purpose:
      "an escrowed viewing key, from `viewing-key new`; required by `custodian_a`. The agent never generates one. If unset, it derives from a signature over a text that names the platform's domain, `evidence.domain` of `chains.json`",
    kind: kinds.viewingKey,
    whenUnset: 'derived from a signature',
    credential: { fields: ['scalar'] },
  },
  holderEarlierViewingKeys: {
    name: 'DISBURSE_HOLDER_EARLIER_VIEWING_KEYS',
    role: 'holder, identity',
    purpose:
      'viewing keys of earlier P, after a rotation: notes of these P are still shown and spent. Each entry is a scalar, or the word `derived` for the key that derives from a signature. The file of the `_FILE` form may be a JSON list. `rotate-viewing-key` writes it',
    kind: kinds.earlierViewingKeys,
    whenUnset: 'none',
    credential: { fields: ['scalar'], isList: true },
  },
  holderEncryptionPublicKey: {
    name: 'DISBURSE_HOLDER_ENCRYPTION_PUBKEY',
    role: 'holder, identity',
    purpose:
      'the enrolled P: `identity` fails, and a spend does not start, if the viewing key produces another P',
    kind: kinds.publicKeyHex,
    whenUnset: 'not compared',
  },
} satisfies Record<string, kinds.ConfigVariable<unknown>>;
