/**
 * The variables of a holder's signer and keys, and their kinds.
 *
 * @module
 */
import {
  accept,
  type ConfigVariable,
  choice,
  type Kind,
  matching,
  reject,
  secret,
  walletPub,
} from '@pool/configuration';
import { Secret } from '@pool/core';
import { computeEncryptionPublicKey, computeX25519PublicKey, parseViewingKey } from '@pool/notes';
import { holderKeys } from './local-keys.ts';
import { funderRoles, holderKinds, remoteHolderRole } from './registry.ts';

const holderSigner = choice(
  holderKinds,
  [
    `must be one of ${holderKinds.join(', ')}`,
    ...funderRoles.flatMap(({ withoutHolder }) => withoutHolder ?? []),
  ].join('; '),
);

const publicKeyHex = matching(
  '32 bytes of hex',
  (value) => /^0x[0-9a-f]{64}$/.test(value),
  'must be 32 bytes of lower-case hex with 0x',
);

/** v, from 1 to below the order of the subgroup: other numbers would be second spellings of a key. */
const viewingKey = secret(
  matching(
    'viewing key',
    isViewingKey,
    'must be a viewing key as `viewing-key new` prints it in `scalar`: 32 bytes of lower-case hex with 0x, not 0 and below the order of the Baby Jubjub subgroup',
  ),
);

function isViewingKey(text: string): boolean {
  try {
    parseViewingKey(text);
    return true;
  } catch {
    return false;
  }
}

/** A viewing key of an earlier P: the scalar, or the key that derives from a signature of the holder's signer. */
export type EarlierViewingKey =
  | { readonly kind: 'scalar'; readonly scalar: Secret }
  | { readonly kind: 'derived' };

const earlierViewingKeys: Kind<readonly EarlierViewingKey[]> = {
  label: 'secrets, comma separated',
  parse(value) {
    const entries = value.split(',').map((entry) => entry.trim());
    const wrong = entries.flatMap((entry, index) =>
      entry === 'derived' || isViewingKey(entry)
        ? []
        : [
            `entry ${index + 1} must be the scalar of a viewing key, as \`viewing-key new\` prints it, or the word derived`,
          ],
    );
    if (new Set(entries).size !== entries.length) {
      wrong.push('names one key twice');
    }
    return wrong.length > 0
      ? reject(...wrong)
      : accept(
          entries.map((entry) =>
            entry === 'derived'
              ? { kind: 'derived' }
              : { kind: 'scalar', scalar: new Secret(entry) },
          ),
        );
  },
};

/** The document of a viewing key can have a P that its scalar does not give: a part of it was changed or mixed up. */
function findOtherKeys(
  document: Readonly<Record<string, unknown>>,
  text: string,
): string | undefined {
  const named = document['encryptionPublicKeys'];
  if (typeof named !== 'object' || named === null) {
    return undefined;
  }
  let viewingKey: bigint;
  try {
    viewingKey = parseViewingKey(text);
  } catch {
    // The kind of the variable says what is wrong with the scalar.
    return undefined;
  }
  const own: Readonly<Record<string, string>> = {
    babyjubjub: computeEncryptionPublicKey(viewingKey),
    x25519: computeX25519PublicKey(viewingKey),
  };
  return Object.entries(named).some(([curve, key]) => own[curve] !== key)
    ? 'names the document of a viewing key whose encryption keys are not those of its scalar: restore the file as `viewing-key new` printed it'
    : undefined;
}

const withoutOwnKey = holderKinds
  .filter((kind) => remoteHolderRole(kind)?.needsViewingKey)
  .map((kind) => `\`${kind}\``);

export const holderVariables = {
  holderSigner: {
    name: 'DISBURSE_HOLDER_SIGNER',
    role: 'holder, identity',
    purpose: "the holder's signer, independent of `DISBURSE_SIGNER`",
    kind: holderSigner,
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
    kind: viewingKey,
    whenUnset: 'derived from a signature',
    credential: { fields: ['scalar'], findProblem: findOtherKeys },
  },
  holderEarlierViewingKeys: {
    name: 'DISBURSE_HOLDER_EARLIER_VIEWING_KEYS',
    role: 'holder, identity',
    purpose:
      'viewing keys of earlier P, or the word `derived`; the `_FILE` form may be a JSON list. `rotate-viewing-key` writes it',
    kind: earlierViewingKeys,
    whenUnset: 'none',
    credential: { fields: ['scalar'], isList: true },
  },
  holderEncryptionPublicKey: {
    name: 'DISBURSE_HOLDER_ENCRYPTION_PUBKEY',
    role: 'holder, identity',
    purpose: 'the enrolled P: with another one `identity` fails and no spend starts',
    kind: publicKeyHex,
    whenUnset: 'not compared',
  },
} satisfies Record<string, ConfigVariable<unknown>>;
