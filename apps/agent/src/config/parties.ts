/**
 * What separates the parties: funder and holder have wallets of their own, a key in custody is not also on this host, and the secrets
 * that vote are not beside the process that asks for votes.
 *
 * @module
 */
import { createECDH } from 'node:crypto';
import type { ConfigRemark } from '@pool/configuration';
import { type ConfigLayers, createConfigReader, findText } from '@pool/configuration';
import { computeWalletAddress, parseWalletPub, type Secret } from '@pool/core';
import { funderRoles, type HolderKind, type RemoteHolder, remoteHolderRole } from '@pool/signers';
import { variables } from './variables.ts';

/** @param remote - the holder's signer outside this process, if it is complete */
export function findPartyProblems(
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
    .map((variable) => ({
      variable,
      message: `${variable} must be unset: with it, whoever takes over the agent approves its own payments. Keep it with the approve process, on another host`,
    }));
}

function findLocalHolderKeys(layers: ConfigLayers, signer: HolderKind): ConfigRemark[] {
  const read = createConfigReader(layers, []);
  return [variables.holderPrivateKey, variables.holderEd25519Key]
    .filter((variable) => read.isWritten(variable))
    .map(({ name }) => ({
      variable: name,
      message: `${name} must be unset with ${variables.holderSigner.name}=${signer}: the holder's key is there, and not on this host`,
    }));
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
          {
            variable: walletIds.holder.name,
            message: `${walletIds.holder.name} must differ from ${walletIds.funder.name}: a holder's wallet is used for nothing else`,
          },
        ]
      : []),
    ...funders
      .filter((funder) => funder.address === address)
      .map(({ name }) => ({
        variable: walletPub.name,
        message: `${walletPub.name} is the wallet of ${name}: funder and holder need wallets of their own`,
      })),
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
