/**
 * The part of the configuration that concerns the holder: its signer, keys, credentials, destinations and ceilings.
 *
 * @module
 */

import {
  type ConfigLayers,
  type ConfigReader,
  type ConfigRemark,
  type ConfigValues,
  readVariable,
} from '@pool/configuration';
import type { Secret, WalletPub } from '@pool/core';
import {
  type HolderKind,
  type RemoteHolder,
  readHolder as readRemoteHolder,
  remoteHolderRole,
} from '@pool/signers';
import type { EarlierViewingKey } from './kinds.ts';
import { findPartyProblems } from './parties.ts';
import { variables } from './variables.ts';

/** Configuration of the holder's commands and routes. Each of them refuses to start when its token is missing. */
export type HolderConfig = {
  readonly signer: HolderKind;
  /** Present for a signer outside this process. */
  readonly remote: RemoteHolder | undefined;
  /** Of a signer that needs a vote. */
  readonly voteLimitSeconds: number;
  readonly isProduction: boolean;
  /** secp256k1, for `local-key`. */
  readonly privateKey: Secret | undefined;
  /** Seed, for `local-ed25519`. */
  readonly ed25519Key: Secret | undefined;
  /** W. Without a key of the signer: the holder only reads. */
  readonly walletPub: WalletPub | undefined;
  /** Scalar of 32 bytes, hex. Absent: derived from a signature. */
  readonly viewingKey: Secret | undefined;
  /** Keys of earlier P, without the present one. */
  readonly earlierViewingKeys: readonly EarlierViewingKey[];
  /** The enrolled P, public: the viewing key must produce it. */
  readonly encryptionPublicKey: string | undefined;
  /** Default pool token. */
  readonly tokenSymbol: string;
  readonly balanceToken: Secret | undefined;
  readonly transferToken: Secret | undefined;
  readonly sendToken: Secret | undefined;
  /** By label; checksummed addresses. Empty: the holder's own wallet only. */
  readonly sendDestinations: ReadonlyMap<string, string>;
  /** Ceiling of one call in base units. Absent: no ceiling. */
  readonly transferMaxAmount: bigint | undefined;
  readonly sendMaxAmount: bigint | undefined;
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
  const signer = read.defaulted(variables.holderSigner);
  if (remoteHolderRole(signer)?.needsViewingKey && !read.isWritten(variables.holderViewingKey)) {
    const variable = variables.holderViewingKey.name;
    problems.push({ variable, message: `${variable} is required by ${signer}` });
  }
  const remote = readRemoteHolder(signer, read, problems);
  problems.push(...findPartyProblems(layers, signer, remote));
  return {
    signer,
    remote,
    voteLimitSeconds: read.defaulted(variables.holderVoteLimitSeconds),
    isProduction: readVariable(variables.nodeEnv, layers).value === 'production',
    privateKey: read.optional(variables.holderPrivateKey),
    ed25519Key: read.optional(variables.holderEd25519Key),
    walletPub: read.optional(variables.holderWalletPub),
    viewingKey: read.optional(variables.holderViewingKey),
    earlierViewingKeys: read.optional(variables.holderEarlierViewingKeys) ?? [],
    encryptionPublicKey: read.optional(variables.holderEncryptionPublicKey),
    tokenSymbol: read.defaulted(variables.tokenSymbol),
    balanceToken: read.optional(variables.balanceToken),
    transferToken: read.optional(variables.transferToken),
    sendToken: read.optional(variables.sendToken),
    sendDestinations: read.optional(variables.sendDestinations) ?? new Map<string, string>(),
    transferMaxAmount: read.optional(variables.transferMaxAmount),
    sendMaxAmount: read.optional(variables.sendMaxAmount),
  };
}
