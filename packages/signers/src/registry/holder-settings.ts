/**
 * The configuration of a holder's signer and keys, and what separates its parties: funder and holder have wallets of their own, a key in
 * custody is not also on this host, and the secrets that vote are not beside the process that asks for votes.
 *
 * @module
 */
import { createECDH } from 'node:crypto';
import {
  type ConfigLayers,
  type ConfigReader,
  type ConfigRemark,
  type ConfigValues,
  createConfigReader,
  createRemark,
  findText,
} from '@pool/configuration';
import { computeWalletAddress, parseWalletPub, type Secret } from '@pool/core';
import { type EarlierViewingKey, holderVariables } from './holder-variables.ts';
import { funderKeys } from './local-keys.ts';
import {
  funderRoles,
  type HolderKind,
  type RemoteHolder,
  readHolder,
  remoteHolderRole,
} from './registry.ts';

const table = {
  signer: holderVariables.holderSigner,
  /** secp256k1, for `local-key`. */
  privateKey: holderVariables.holderPrivateKey,
  /** Seed, for `local-ed25519`. */
  ed25519Key: holderVariables.holderEd25519Key,
  /** W. Without a key of the signer: the holder only reads. */
  walletPub: holderVariables.holderWalletPub,
  /** Scalar of 32 bytes, hex. Absent: derived from a signature. */
  viewingKey: holderVariables.holderViewingKey,
  /** The enrolled P, public: the viewing key must produce it. */
  encryptionPublicKey: holderVariables.holderEncryptionPublicKey,
};

export type HolderSettings = ConfigValues<typeof table> & {
  /** Present for a signer outside this process. */
  readonly remote: RemoteHolder | undefined;
  readonly isProduction: boolean;
  /** Keys of earlier P, without the present one. */
  readonly earlierViewingKeys: readonly EarlierViewingKey[];
};

/** @param problems - the list that problems are added to */
export function readHolderSettings(
  read: ConfigReader,
  layers: ConfigLayers,
  problems: ConfigRemark[],
): HolderSettings {
  const values = read.all(table);
  const { signer } = values;
  if (
    remoteHolderRole(signer)?.needsViewingKey &&
    !read.isWritten(holderVariables.holderViewingKey)
  ) {
    problems.push(createRemark(holderVariables.holderViewingKey.name, `is required by ${signer}`));
  }
  const remote = readHolder(signer, read, problems);
  problems.push(...findPartyProblems(layers, signer, remote));
  return {
    ...values,
    remote,
    isProduction: findText(layers, 'NODE_ENV')?.text === 'production',
    earlierViewingKeys: read.optional(holderVariables.holderEarlierViewingKeys) ?? [],
  };
}

/** @param remote - the holder's signer outside this process, if it is complete */
function findPartyProblems(
  layers: ConfigLayers,
  signer: HolderKind,
  remote: RemoteHolder | undefined,
): ConfigRemark[] {
  return [
    ...findVoteSecrets(layers),
    ...(remoteHolderRole(signer) === undefined ? [] : findLocalHolderKeys(layers, signer)),
    ...(remote === undefined ? [] : findSharedWallet(layers, remote)),
  ];
}

/** The credentials that approve. With them, whoever takes over the agent approves its own payments. */
function findVoteSecrets(layers: ConfigLayers): ConfigRemark[] {
  return funderRoles
    .toReversed()
    .flatMap(({ voteSecrets = [] }) => voteSecrets)
    .flatMap((name) => [name, `${name}_FILE`])
    .filter((name) => findText(layers, name) !== undefined)
    .map((variable) =>
      createRemark(
        variable,
        'must be unset: with it, whoever takes over the agent approves its own payments. Keep it with the approve process, on another host',
      ),
    );
}

function findLocalHolderKeys(layers: ConfigLayers, signer: HolderKind): ConfigRemark[] {
  const read = createConfigReader(layers, []);
  return [holderVariables.holderPrivateKey, holderVariables.holderEd25519Key]
    .filter((variable) => read.isWritten(variable))
    .map(({ name }) =>
      createRemark(
        name,
        `must be unset with ${holderVariables.holderSigner.name}=${signer}: the holder's key is there, and not on this host`,
      ),
    );
}

/** A spend is signed as a bare hash, so its wallet must not be one whose other signatures move money (protocol §7). */
function findSharedWallet(layers: ConfigLayers, remote: RemoteHolder): ConfigRemark[] {
  // The problems of these variables are reported where the funder is read.
  const read = createConfigReader(layers, []);
  const { walletPub, walletIds } = remote.role;
  const address = computeWalletAddress(remote.walletPub);
  const funderKey = read.optional(funderKeys.secp256k1);
  const funders = [
    ...funderRoles.map((funder) => ({
      name: funder.address.name,
      address: read.optional(funder.address),
    })),
    {
      name: funderKeys.secp256k1.name,
      address: funderKey === undefined ? undefined : computeKeyAddress(funderKey),
    },
  ];
  return [
    ...(walletIds !== undefined &&
    read.optional(walletIds.holder) === read.optional(walletIds.funder)
      ? [
          createRemark(
            walletIds.holder.name,
            `must differ from ${walletIds.funder.name}: a holder's wallet is used for nothing else`,
          ),
        ]
      : []),
    ...funders
      .filter((funder) => funder.address === address)
      .map(({ name }) =>
        createRemark(
          walletPub.name,
          `is the wallet of ${name}: funder and holder need wallets of their own`,
        ),
      ),
  ];
}

/** Undefined: it is no key of secp256k1, which the signer reports. */
function computeKeyAddress(privateKey: Secret): string | undefined {
  try {
    const key = createECDH('secp256k1');
    key.setPrivateKey(privateKey.reveal().slice(2), 'hex');
    return computeWalletAddress(parseWalletPub(`0x${key.getPublicKey('hex', 'compressed')}`));
  } catch {
    return undefined;
  }
}
