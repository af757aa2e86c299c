/**
 * The part of the configuration that concerns the holder: its signer and keys, credentials, destinations and ceilings.
 *
 * @module
 */
import type { ConfigLayers, ConfigReader, ConfigRemark, ConfigValues } from '@pool/configuration';
import { type HolderSettings, readHolderSettings } from '@pool/signers';
import { variables } from './variables.ts';

const holderTable = {
  /** Of a signer that needs a vote. */
  voteLimitSeconds: variables.holderVoteLimitSeconds,
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
export type HolderConfig = HolderSettings &
  ConfigValues<typeof holderTable> & {
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
  return {
    ...readHolderSettings(read, layers, problems),
    ...read.all(holderTable),
    sendDestinations: read.optional(variables.sendDestinations) ?? new Map<string, string>(),
  };
}
