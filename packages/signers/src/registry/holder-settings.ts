/**
 * The part of the configuration that concerns the holder: its signer, keys, credentials, destinations and ceilings.
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
  readVariable,
} from '@pool/configuration';
import { computeWalletAddress, parseWalletPub, type Secret } from '@pool/core';
import {
  funderRoles,
  type HolderKind,
  type RemoteHolder,
  readHolder as readRemoteHolder,
  remoteHolderRole,
} from '@pool/signers';
import type { EarlierViewingKey } from './kinds.ts';
import { variables } from './variables.ts';

// What separates the parties: funder and holder have wallets of their own, a key in custody is not also on this host, and the secrets
// that vote are not beside the process that asks for votes.

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
  return [variables.holderPrivateKey, variables.holderEd25519Key]
    .filter((variable) => read.isWritten(variable))
    .map(({ name }) =>
      createRemark(
        name,
        `must be unset with ${variables.holderSigner.name}=${signer}: the holder's key is there, and not on this host`,
      ),
    );
}

/** A spend is signed as a bare hash, so its wallet must not be one whose other signatures move money (protocol §7). */
function findSharedWallet(layers: ConfigLayers, remote: RemoteHolder): ConfigRemark[] {
  // The problems of these variables are reported where the funder is read.
  const read = createConfigReader(layers, []);
  const { walletPub, walletIds } = remote.role;
  const address = computeWalletAddress(remote.walletPub);
  const funderKey = read.optional(variables.funderPrivateKey);
  const funders = [
    ...funderRoles.map((funder) => ({
      name: funder.address.name,
      address: read.optional(funder.address),
    })),
    {
      name: variables.funderPrivateKey.name,
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

/** Besides its signer outside this process, and what an unset variable leaves empty. */
const holderTable = {
  signer: variables.holderSigner,
  /** Of a signer that needs a vote. */
  voteLimitSeconds: variables.holderVoteLimitSeconds,
  /** secp256k1, for `local-key`. */
  privateKey: variables.holderPrivateKey,
  /** Seed, for `local-ed25519`. */
  ed25519Key: variables.holderEd25519Key,
  /** W. Without a key of the signer: the holder only reads. */
  walletPub: variables.holderWalletPub,
  /** Scalar of 32 bytes, hex. Absent: derived from a signature. */
  viewingKey: variables.holderViewingKey,
  /** The enrolled P, public: the viewing key must produce it. */
  encryptionPublicKey: variables.holderEncryptionPublicKey,
  /** Default pool token. */
  tokenSymbol: variables.tokenSymbol,
  balanceToken: variables.balanceToken,
  transferToken: variables.transferToken,
  sendToken: variables.sendToken,
  /** Ceiling of one call in base units. Absent: no ceiling. */
  transferMaxAmount: variables.transferMaxAmount,
  sendMaxAmount: variables.sendMaxAmount,
};

/** Configuration of the holder's commands and routes. Each of them refuses to start when its token is missing. */
export type HolderConfig = ConfigValues<typeof holderTable> & {
  /** Present for a signer outside this process. */
  readonly remote: RemoteHolder | undefined;
  readonly isProduction: boolean;
  /** Keys of earlier P, without the present one. */
  readonly earlierViewingKeys: readonly EarlierViewingKey[];
  /** By label; checksummed addresses. Empty: the holder's own wallet only. */
  readonly sendDestinations: ReadonlyMap<string, string>;
};

/** Besides those of the holder. Without `chain`, the curve of the signer decides the family; without `employerId`, the pinned one counts. */
export const keepingVariables = {
  chain: variables.chain,
  chainsFile: variables.chainsFile,
  onboardPrivateKey: variables.onboardPrivateKey,
  artifactsDir: variables.artifactsDir,
  artifactsManifest: variables.artifactsManifest,
  jobStore: variables.jobStore,
  spendJournal: variables.spendJournal,
  fingerprintKey: variables.fingerprintKey,
  employerId: variables.employerId,
};

/** What `identity`, `onboard`, `backup` and `rotate-viewing-key` read. */
export type KeepingSettings = ConfigValues<typeof keepingVariables> & {
  /** Agent directory. */
  readonly home: string;
  readonly holder: HolderConfig;
  /** Where all of it was read. */
  readonly layers: ConfigLayers;
};

/** @param problems - the list that problems are added to */
export function readHolder(
  read: ConfigReader,
  layers: ConfigLayers,
  problems: ConfigRemark[],
): HolderConfig {
  const values = read.all(holderTable);
  const { signer } = values;
  if (remoteHolderRole(signer)?.needsViewingKey && !read.isWritten(variables.holderViewingKey)) {
    problems.push(createRemark(variables.holderViewingKey.name, `is required by ${signer}`));
  }
  const remote = readRemoteHolder(signer, read, problems);
  problems.push(...findPartyProblems(layers, signer, remote));
  return {
    ...values,
    remote,
    isProduction: readVariable(variables.nodeEnv, layers).value === 'production',
    earlierViewingKeys: read.optional(variables.holderEarlierViewingKeys) ?? [],
    sendDestinations: read.optional(variables.sendDestinations) ?? new Map<string, string>(),
  };
}
