/**
 * The variables of the holder's signer and keys, a part of the table in variables.ts.
 *
 * @module
 */
import { type ConfigVariable, walletPub } from '@pool/configuration';
import { holderKeys, holderKinds, remoteHolderRole } from '@pool/signers';
import * as kinds from './kinds.ts';

const withoutOwnKey = holderKinds
  .filter((kind) => remoteHolderRole(kind)?.needsViewingKey)
  .map((kind) => `\`${kind}\``);

export const holderVariables = {
  holderSigner: {
    name: 'DISBURSE_HOLDER_SIGNER',
    role: 'holder, identity',
    purpose: "the holder's signer, independent of `DISBURSE_SIGNER`",
    kind: kinds.holderSigner,
    fallback: () => 'local-key' as const,
  },
  holderPrivateKey: holderKeys.secp256k1,
  holderEd25519Key: holderKeys.ed25519,
  holderWalletPub: {
    name: 'DISBURSE_HOLDER_WALLET_PUB',
    role: 'holder, identity',
    purpose: "W, for a machine that only reads. With a signer's key it is compared",
    kind: walletPub,
    whenUnset: 'from the signer',
  },
  holderViewingKey: {
    name: 'DISBURSE_HOLDER_VIEWING_KEY',
    role: 'holder, identity',
    purpose: `an escrowed viewing key, from \`viewing-key new\`; required by ${withoutOwnKey.join(', ')}`,
    kind: kinds.viewingKey,
    whenUnset: 'derived from a signature',
    credential: { fields: ['scalar'], findProblem: kinds.findOtherKeys },
  },
  holderEarlierViewingKeys: {
    name: 'DISBURSE_HOLDER_EARLIER_VIEWING_KEYS',
    role: 'holder, identity',
    purpose:
      'viewing keys of earlier P, or the word `derived`; the `_FILE` form may be a JSON list. `rotate-viewing-key` writes it',
    kind: kinds.earlierViewingKeys,
    whenUnset: 'none',
    credential: { fields: ['scalar'], isList: true },
  },
  holderEncryptionPublicKey: {
    name: 'DISBURSE_HOLDER_ENCRYPTION_PUBKEY',
    role: 'holder, identity',
    purpose: 'the enrolled P: with another one `identity` fails and no spend starts',
    kind: kinds.publicKeyHex,
    whenUnset: 'not compared',
  },
} satisfies Record<string, ConfigVariable<unknown>>;
