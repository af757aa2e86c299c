/**
 * What a kind of signer is to whoever configures one: its variables, how its connection is read and opened, and what is true when it
 * answers. registry.ts lists the kinds.
 *
 * @module
 */
import type {
  ConfigLayers,
  ConfigReader,
  ConfigRemark,
  ConfigVariable,
  Kind,
} from '@pool/configuration';
import type { Curve, EncryptionPublicKey, EvmAddress, Secret, WalletPub } from '@pool/core';
import type { SignerAllow } from '@pool/policy';
import type { OwnersDesk } from '../contract-wallet/contract-wallet-signer.ts';
import type { HolderSigner } from '../holder/holder-signer.ts';
import type { RemoteHolderOptions } from '../holder/remote-holder.ts';
import type { Signer } from '../signer.ts';

/** Reads the variables of one configured signer. */
export type SignerReader = Pick<ConfigReader, 'optional' | 'defaulted'> & {
  /** What the signer cannot do without. If it is missing, it is reported by name. */
  need<T>(variable: ConfigVariable<T>): T | undefined;
};

/** @param asker - what chose the signer, for example `DISBURSE_SIGNER=enclave` */
export function createSignerReader(
  read: ConfigReader,
  problems: ConfigRemark[],
  asker: string,
): SignerReader {
  return {
    optional: read.optional,
    defaulted: read.defaulted,
    need(variable) {
      if (!read.isWritten(variable)) {
        const { name, credential } = variable;
        const form = credential === undefined ? '' : ` (or ${name}_FILE)`;
        problems.push({ variable: name, message: `${name}${form} is required by ${asker}` });
        return undefined;
      }
      return read.optional(variable);
    },
  };
}

/** All values, or undefined if one is missing. Its problem is recorded then. */
export function complete<T extends Readonly<Record<string, unknown>>>(
  values: T,
): { readonly [Name in keyof T]: Exclude<T[Name], undefined> } | undefined {
  return Object.values(values).includes(undefined)
    ? undefined
    : (values as { readonly [Name in keyof T]: Exclude<T[Name], undefined> });
}

/** Makes variables of one role. Their names are whole, so that a search finds them. */
export function variablesOf(role: string) {
  return <T>(
    name: string,
    purpose: string,
    kind: Kind<T>,
    rest: Pick<ConfigVariable<T>, 'credential' | 'whenUnset'> = {},
  ): ConfigVariable<T> => ({ name, role, purpose, kind, ...rest });
}

/** The approve process, which receives manifests. */
export type ApproveConnection = { readonly url: string; readonly token: Secret };

type RemoteRole = {
  /** In the order of the README. Without its signer, each of them has no effect. */
  readonly variables: readonly ConfigVariable<unknown>[];
  /** What is true when its probe succeeds. */
  readonly answers: string;
  /** What is worth saying about the connection, although it can be used. */
  readonly findWarnings?: (layers: ConfigLayers) => ConfigRemark[];
};

/** What a funder's signer depends on beside its own variables. */
export type FunderContext = {
  readonly allow: SignerAllow;
  /** EIP-155 id of the chain that token approvals are sent to. Undefined: several, so a custodian that sends them refuses them. */
  readonly assetChainId: number | undefined;
  readonly isProduction: boolean;
  /** Where requests wait for the owners of a contract wallet. Absent: this process asks for no signature. */
  readonly owners?: OwnersDesk | undefined;
};

export type ConfiguredFunder = {
  readonly address: EvmAddress;
  /** The gate that votes on its requests. Absent: nobody votes. */
  readonly approve?: ApproveConnection;
  /** Calls nobody. */
  open(context: FunderContext): Signer;
};

/** A funder's signer outside the agent's process. */
export type FunderRole = RemoteRole & {
  readonly address: ConfigVariable<EvmAddress>;
  read(reader: SignerReader): ConfiguredFunder | undefined;
  /** Why holders cannot use this kind. Absent: they can. */
  readonly withoutHolder?: string;
  /** Variables of the gate with which one approves at this custodian. An agent refuses to see them. */
  readonly voteSecrets?: readonly string[];
  /** Credentials that must differ from others. */
  readonly separations?: readonly {
    readonly variable: string;
    readonly differsFrom: readonly string[];
    readonly reason: string;
  }[];
};

/** What a holder's signer depends on beside its own variables. */
export type HolderContext = Pick<RemoteHolderOptions, 'pollMs' | 'sleep'> & {
  readonly isProduction: boolean;
  /** P of the configured viewing key. Undefined: it derives from the signer. */
  readonly encryptionPublicKey: EncryptionPublicKey | undefined;
};

export type ConfiguredHolder = {
  readonly walletPub: WalletPub;
  /** The gate that votes on its requests. Absent: nobody votes. */
  readonly approve?: ApproveConnection;
  /** Calls nobody: W is in the configuration. */
  open(context: HolderContext): HolderSigner;
  /** Lines of an environment file: everything but the credentials, which are not copied. */
  describe(): readonly string[];
};

/** A holder's signer outside the agent's process. */
export type RemoteHolderRole = RemoteRole & {
  readonly place: 'remote';
  readonly curve: Curve;
  readonly walletPub: ConfigVariable<WalletPub>;
  /** Of wallets at the custodian that must differ. */
  readonly walletIds?: Readonly<Record<'holder' | 'funder', ConfigVariable<string>>>;
  read(reader: SignerReader): ConfiguredHolder | undefined;
  /** It signs after a vote, so it can sign a session in place of the host's key. */
  readonly needsVote: boolean;
  /** It draws a fresh nonce for each signature, so no viewing key derives from one. */
  readonly needsViewingKey: boolean;
  /** Its credentials in words. */
  readonly secrets: readonly string[];
};

/** A holder's key in the agent's process. */
export type LocalHolderRole = {
  readonly place: 'local';
  readonly curve: Curve;
  readonly key: ConfigVariable<Secret>;
  /** @throws PoolError `invalid_private_key` */
  open(options: { readonly privateKey: Secret }): HolderSigner;
};
