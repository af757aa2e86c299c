/**
 * The part of the configuration that concerns signers outside the agent's process. What a signer requires is required by name, and
 * only when that signer is configured.
 *
 * @module
 */

import type { ConfigReader, ConfigRemark, ConfigVariable } from '@pool/configuration';
import type { EvmAddress, Secret, WalletPub } from '@pool/core';
import type { AttestationPins } from '@pool/signers';
import { custodyVariables as variables } from './custody-variables.ts';
import type { FunderSignerName, HolderSignerName } from './kinds.ts';

/** The approve process, which receives manifests. */
export type ApproveConnection = { readonly url: string; readonly token: Secret };

/** A service account at custodian A. */
export type CustodianAConnection = {
  readonly url: string;
  readonly origin: string | undefined;
  /** Of the provider's own headers, with its hyphen. */
  readonly headerPrefix: string;
  readonly token: Secret;
  readonly credentialId: string;
  readonly serviceKey: Secret;
};

/** How an enclave is reached, and what it must prove. */
export type EnclaveConnection = {
  readonly socketPath: string;
  readonly rootSha256: Uint8Array;
  readonly pcrs: AttestationPins['pcrs'];
  /** The same request always gets the same signature. False for a key in a PKCS#11 token. */
  readonly deterministic: boolean;
};

/** The configured signer of the funder, unless it is a key of this process. */
export type RemoteFunder =
  | { readonly kind: 'enclave'; readonly enclave: EnclaveConnection; readonly address: EvmAddress }
  | {
      readonly kind: 'custodian_a';
      readonly account: CustodianAConnection;
      readonly approve: ApproveConnection;
      readonly walletId: string;
      readonly address: EvmAddress;
    }
  | {
      readonly kind: 'custodian_b';
      readonly url: string;
      readonly apiKey: Secret;
      readonly apiSecret: Secret;
      readonly approve: ApproveConnection;
      readonly vaultAccountId: string;
      readonly assetId: string;
      readonly address: EvmAddress;
    };

/** The configured signer of the holder, unless it is a key of this process. */
export type RemoteHolderConfig =
  | {
      readonly kind: 'enclave';
      readonly enclave: EnclaveConnection;
      readonly walletPub: WalletPub;
    }
  | {
      readonly kind: 'custodian_a';
      readonly account: CustodianAConnection;
      readonly approve: ApproveConnection;
      readonly walletId: string;
      readonly walletPub: WalletPub;
      /** The funder's wallet of the same agent, which must be another one. */
      readonly funder:
        | { readonly address: EvmAddress; readonly walletId: string | undefined }
        | undefined;
    };

type Require = <T>(variable: ConfigVariable<T>) => T | undefined;

/** @param problems - a missing variable is added by name */
function createRequire(read: ConfigReader, problems: ConfigRemark[], signer: string): Require {
  return (variable) => {
    if (!read.isWritten(variable)) {
      const { name, credential } = variable;
      const form = credential === undefined ? '' : ` (or ${name}_FILE)`;
      problems.push({ variable: name, message: `${name}${form} is required by ${signer}` });
      return undefined;
    }
    return read.optional(variable);
  };
}

/** All values, or undefined if one is missing. Its problem is recorded then. */
function complete<T extends Readonly<Record<string, unknown>>>(
  values: T,
): { readonly [Name in keyof T]: Exclude<T[Name], undefined> } | undefined {
  return Object.values(values).includes(undefined)
    ? undefined
    : (values as { readonly [Name in keyof T]: Exclude<T[Name], undefined> });
}

/** @param problems - the list that problems are added to */
export function readRemoteFunder(
  read: ConfigReader,
  problems: ConfigRemark[],
  name: FunderSignerName | undefined,
): RemoteFunder | undefined {
  if (name === undefined) {
    return undefined;
  }
  const need = createRequire(read, problems, `DISBURSE_SIGNER=${name}`);
  switch (name) {
    case 'enclave': {
      const enclave = complete({
        socketPath: need(variables.enclaveSocket),
        rootSha256: need(variables.enclaveRootSha256),
        pcrs: need(variables.enclavePcrs),
        deterministic: read.defaulted(variables.enclaveDeterministic) === 'true',
      });
      const found = complete({ enclave, address: need(variables.enclaveAddress) });
      return found === undefined ? undefined : { kind: name, ...found };
    }
    case 'custodian_a': {
      const found = complete({
        account: readCustodianA(read, need),
        approve: readApprove(need),
        walletId: need(variables.custodianAWalletId),
        address: need(variables.custodianAAddress),
      });
      return found === undefined ? undefined : { kind: name, ...found };
    }
    case 'custodian_b': {
      const found = complete({
        url: need(variables.custodianBUrl),
        apiKey: need(variables.custodianBApiKey),
        apiSecret: need(variables.custodianBApiSecret),
        approve: readApprove(need),
        vaultAccountId: need(variables.custodianBVaultAccount),
        assetId: need(variables.custodianBAsset),
        address: need(variables.custodianBAddress),
      });
      return found === undefined ? undefined : { kind: name, ...found };
    }
  }
}

/** @param problems - the list that problems are added to */
export function readRemoteHolder(
  read: ConfigReader,
  problems: ConfigRemark[],
  name: HolderSignerName,
): RemoteHolderConfig | undefined {
  const need = createRequire(read, problems, `DISBURSE_HOLDER_SIGNER=${name}`);
  switch (name) {
    case 'local-key':
    case 'local-ed25519':
      return undefined;
    case 'enclave': {
      const enclave = complete({
        socketPath: need(variables.holderEnclaveSocket),
        rootSha256: need(variables.holderEnclaveRootSha256),
        pcrs: need(variables.holderEnclavePcrs),
        deterministic: read.defaulted(variables.holderEnclaveDeterministic) === 'true',
      });
      const found = complete({ enclave, walletPub: need(variables.holderEnclaveWalletPub) });
      return found === undefined ? undefined : { kind: name, ...found };
    }
    case 'custodian_a': {
      const found = complete({
        account: readCustodianA(read, need),
        approve: readApprove(need),
        walletId: need(variables.custodianAHolderWalletId),
        walletPub: need(variables.custodianAHolderWalletPub),
      });
      if (found === undefined) {
        return undefined;
      }
      const address = read.optional(variables.custodianAAddress);
      const walletId = read.optional(variables.custodianAWalletId);
      const funder = address === undefined ? undefined : { address, walletId };
      return { kind: name, ...found, funder };
    }
  }
}

function readCustodianA(read: ConfigReader, need: Require): CustodianAConnection | undefined {
  const found = complete({
    url: need(variables.custodianAUrl),
    token: need(variables.custodianAServiceToken),
    credentialId: need(variables.custodianACredentialId),
    serviceKey: need(variables.custodianAServiceKey),
  });
  const origin = read.optional(variables.custodianAOrigin);
  const headerPrefix = read.defaulted(variables.custodianAHeaderPrefix);
  return found === undefined ? undefined : { ...found, origin, headerPrefix };
}

function readApprove(need: Require): ApproveConnection | undefined {
  return complete({ url: need(variables.approveUrl), token: need(variables.approveToken) });
}
