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
import type { RemoteHolderConfig } from './custody-config.ts';
import type { HolderSignerName } from './kinds.ts';
import { variables } from './variables.ts';

/** The credentials that approve at a custodian, or that answer for the one that approves. */
const voteSecrets = [
  'APPROVE_CUSTODIAN_A_SERVICE_TOKEN',
  'APPROVE_CUSTODIAN_A_SERVICE_KEY',
  'APPROVE_CUSTODIAN_B_API_SECRET',
  'APPROVE_CUSTODIAN_B_CALLBACK_PRIVATE_KEY',
] as const;

/** @param holder - with its signer outside this process, if that one is complete */
export function findPartyProblems(
  layers: ConfigLayers,
  holder: { readonly signer: HolderSignerName; readonly remote: RemoteHolderConfig | undefined },
): ConfigRemark[] {
  return [
    ...findVoteSecrets(layers),
    ...findLocalHolderKeys(layers, holder.signer),
    ...(holder.remote === undefined ? [] : findSharedWallet(layers, holder.remote)),
  ];
}

/** With them, whoever takes over the agent approves its own payments. */
function findVoteSecrets(layers: ConfigLayers): ConfigRemark[] {
  return voteSecrets
    .flatMap((name) => [name, `${name}_FILE`])
    .filter((name) => findText(layers, name) !== undefined)
    .map((variable) => ({
      variable,
      message: `${variable} must be unset: with it, whoever takes over the agent approves its own payments. Keep it with the approve process, on another host`,
    }));
}

function findLocalHolderKeys(layers: ConfigLayers, signer: HolderSignerName): ConfigRemark[] {
  if (signer !== 'enclave' && signer !== 'custodian_a') {
    return [];
  }
  const read = createConfigReader(layers, []);
  return [variables.holderPrivateKey, variables.holderEd25519Key]
    .filter((variable) => read.isWritten(variable))
    .map(({ name }) => ({
      variable: name,
      message: `${name} must be unset with ${variables.holderSigner.name}=${signer}: the holder's key is there, and not on this host`,
    }));
}

/** A spend is signed as a bare hash, so its wallet must not be one whose other signatures move money (protocol §7). */
function findSharedWallet(layers: ConfigLayers, remote: RemoteHolderConfig): ConfigRemark[] {
  // The problems of these variables are reported where the funder is read.
  const read = createConfigReader(layers, []);
  const problems: ConfigRemark[] = [];
  const own =
    remote.kind === 'enclave'
      ? variables.holderEnclaveWalletPub.name
      : variables.custodianAHolderWalletPub.name;
  if (
    remote.kind === 'custodian_a' &&
    remote.walletId === read.optional(variables.custodianAWalletId)
  ) {
    const variable = variables.custodianAHolderWalletId.name;
    const other = variables.custodianAWalletId.name;
    problems.push({
      variable,
      message: `${variable} must differ from ${other}: a holder's wallet is used for nothing else`,
    });
  }
  const address = computeWalletAddress(remote.walletPub);
  const funderKey = read.optional(variables.funderPrivateKey);
  const funders = [
    ...[variables.enclaveAddress, variables.custodianAAddress, variables.custodianBAddress].map(
      (variable) => ({ name: variable.name, address: read.optional(variable) }),
    ),
    {
      name: variables.funderPrivateKey.name,
      address: funderKey === undefined ? undefined : computeKeyAddress(funderKey),
    },
  ];
  for (const funder of funders) {
    if (funder.address === address) {
      problems.push({
        variable: own,
        message: `${own} is the wallet of ${funder.name}: funder and holder need wallets of their own`,
      });
    }
  }
  return problems;
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
