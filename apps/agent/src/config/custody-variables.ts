/**
 * The variables of signers outside the agent's process: enclaves, custodians and the approve process. A part of the table in
 * variables.ts.
 *
 * @module
 */

import type { ConfigVariable } from '@pool/configuration';
import { bearerSecret, choice, integer, path, text } from '@pool/configuration';
import {
  evmAddress,
  headerPrefix,
  pcrPins,
  privateKeyPem,
  rootSha256,
  urlOrigin,
} from './custody-kinds.ts';
import * as kinds from './kinds.ts';

export const custodyVariables = {
  voteLimitSeconds: {
    name: 'DISBURSE_VOTE_LIMIT_SECONDS',
    role: 'disburse',
    purpose:
      "how long people may take to approve a batch, in seconds; at most the platform's `PLATFORM_VOTE_LIMIT_SECONDS`",
    kind: integer(60, 2_592_000),
    fallback: () => 86_400,
  },
  holderVoteLimitSeconds: {
    name: 'DISBURSE_HOLDER_VOTE_LIMIT_SECONDS',
    role: 'transfer, send',
    purpose:
      'how long people may take to approve a spend, in seconds; its notes stay locked until then',
    kind: integer(60, 604_800),
    fallback: () => 3_600,
  },
  approveUrl: {
    name: 'DISBURSE_APPROVE_URL',
    role: 'disburse, holder',
    purpose:
      'the approve process, which receives each manifest first. Required by custodians; another host through a tunnel to loopback',
    kind: kinds.serviceUrl,
    whenUnset: 'none',
  },
  approveToken: {
    name: 'DISBURSE_APPROVE_TOKEN',
    role: 'disburse, holder',
    purpose: 'bearer token of the approve process',
    kind: bearerSecret(20),
    whenUnset: 'none',
    credential: { fields: ['token'] },
  },
  custodianAUrl: {
    name: 'DISBURSE_CUSTODIAN_A_URL',
    role: 'disburse, holder',
    purpose: 'API of custodian A',
    kind: kinds.serviceUrl,
    whenUnset: 'none',
  },
  custodianAOrigin: {
    name: 'DISBURSE_CUSTODIAN_A_ORIGIN',
    role: 'disburse, holder',
    purpose: 'origin in the client data of user actions',
    kind: urlOrigin,
    whenUnset: 'the origin of `DISBURSE_CUSTODIAN_A_URL`',
  },
  custodianAHeaderPrefix: {
    name: 'DISBURSE_CUSTODIAN_A_HEADER_PREFIX',
    role: 'disburse, holder',
    purpose: "prefix of custodian A's own headers",
    kind: headerPrefix,
    fallback: () => 'x-',
  },
  custodianAServiceToken: {
    name: 'DISBURSE_CUSTODIAN_A_SERVICE_TOKEN',
    role: 'disburse, holder',
    purpose: 'bearer token of the service account',
    kind: kinds.opaqueSecret,
    whenUnset: 'none',
    credential: { fields: ['token'] },
  },
  custodianACredentialId: {
    name: 'DISBURSE_CUSTODIAN_A_CREDENTIAL_ID',
    role: 'disburse, holder',
    purpose: "id of the service account's credential",
    kind: text,
    whenUnset: 'none',
  },
  custodianAServiceKey: {
    name: 'DISBURSE_CUSTODIAN_A_SERVICE_KEY',
    role: 'disburse, holder',
    purpose: 'key of that credential, Ed25519 or P-256',
    kind: privateKeyPem,
    whenUnset: 'none',
    credential: { fields: ['privateKey'], isText: true },
  },
  custodianAWalletId: {
    name: 'DISBURSE_CUSTODIAN_A_WALLET_ID',
    role: 'disburse',
    purpose: "the funder's wallet",
    kind: text,
    whenUnset: 'none',
  },
  custodianAAddress: {
    name: 'DISBURSE_CUSTODIAN_A_ADDRESS',
    role: 'disburse',
    purpose: 'its address',
    kind: evmAddress,
    whenUnset: 'none',
  },
  custodianAHolderWalletId: {
    name: 'DISBURSE_CUSTODIAN_A_HOLDER_WALLET_ID',
    role: 'holder, identity',
    purpose: "the holder's wallet: not the funder's, and holding nothing else",
    kind: text,
    whenUnset: 'none',
  },
  custodianAHolderWalletPub: {
    name: 'DISBURSE_CUSTODIAN_A_HOLDER_WALLET_PUB',
    role: 'holder, identity',
    purpose: 'its W',
    kind: kinds.walletPub,
    whenUnset: 'none',
  },
  custodianBUrl: {
    name: 'DISBURSE_CUSTODIAN_B_URL',
    role: 'disburse',
    purpose: 'API of custodian B',
    kind: kinds.serviceUrl,
    whenUnset: 'none',
  },
  custodianBApiKey: {
    name: 'DISBURSE_CUSTODIAN_B_API_KEY',
    role: 'disburse',
    purpose: 'id of the API user',
    kind: kinds.opaqueSecret,
    whenUnset: 'none',
    credential: { fields: ['apiKey'] },
  },
  custodianBApiSecret: {
    name: 'DISBURSE_CUSTODIAN_B_API_SECRET',
    role: 'disburse',
    purpose: 'RSA key of that user',
    kind: privateKeyPem,
    whenUnset: 'none',
    credential: { fields: ['privateKey'], isText: true },
  },
  custodianBVaultAccount: {
    name: 'DISBURSE_CUSTODIAN_B_VAULT_ACCOUNT',
    role: 'disburse',
    purpose: "the funder's vault account",
    kind: text,
    whenUnset: 'none',
  },
  custodianBAsset: {
    name: 'DISBURSE_CUSTODIAN_B_ASSET',
    role: 'disburse',
    purpose: 'asset id, which chooses key and chain: that of `DISBURSE_CHAIN`',
    kind: text,
    whenUnset: 'none',
  },
  custodianBAddress: {
    name: 'DISBURSE_CUSTODIAN_B_ADDRESS',
    role: 'disburse',
    purpose: 'address of that vault account',
    kind: evmAddress,
    whenUnset: 'none',
  },
  enclaveSocket: {
    name: 'DISBURSE_ENCLAVE_SOCKET',
    role: 'disburse',
    purpose: "AF_UNIX socket of the funder's enclave or of its bridge",
    kind: path,
    whenUnset: 'none',
  },
  enclaveAddress: {
    name: 'DISBURSE_ENCLAVE_ADDRESS',
    role: 'disburse',
    purpose: 'address of its key',
    kind: evmAddress,
    whenUnset: 'none',
  },
  enclaveRootSha256: {
    name: 'DISBURSE_ENCLAVE_ROOT_SHA256',
    role: 'disburse',
    purpose: 'fingerprint of the root that attests it',
    kind: rootSha256,
    whenUnset: 'none',
  },
  enclavePcrs: {
    name: 'DISBURSE_ENCLAVE_PCRS',
    role: 'disburse',
    purpose: 'measurements of its code',
    kind: pcrPins,
    whenUnset: 'none',
  },
  enclaveDeterministic: {
    name: 'DISBURSE_ENCLAVE_DETERMINISTIC',
    role: 'disburse',
    purpose: '`false` if its key is in a PKCS#11 token: signatures do not repeat',
    kind: choice<'true' | 'false'>(['true', 'false']),
    fallback: () => 'true' as const,
  },
  holderEnclaveSocket: {
    name: 'DISBURSE_HOLDER_ENCLAVE_SOCKET',
    role: 'holder, identity',
    purpose: "the same, for the holder's enclave",
    kind: path,
    whenUnset: 'none',
  },
  holderEnclaveWalletPub: {
    name: 'DISBURSE_HOLDER_ENCLAVE_WALLET_PUB',
    role: 'holder, identity',
    purpose: "W of the holder's enclave",
    kind: kinds.walletPub,
    whenUnset: 'none',
  },
  holderEnclaveRootSha256: {
    name: 'DISBURSE_HOLDER_ENCLAVE_ROOT_SHA256',
    role: 'holder, identity',
    purpose: 'as above',
    kind: rootSha256,
    whenUnset: 'none',
  },
  holderEnclavePcrs: {
    name: 'DISBURSE_HOLDER_ENCLAVE_PCRS',
    role: 'holder, identity',
    purpose: 'as above',
    kind: pcrPins,
    whenUnset: 'none',
  },
  holderEnclaveDeterministic: {
    name: 'DISBURSE_HOLDER_ENCLAVE_DETERMINISTIC',
    role: 'holder, identity',
    purpose: 'as above; no viewing key derives then',
    kind: choice<'true' | 'false'>(['true', 'false']),
    fallback: () => 'true' as const,
  },
} satisfies Record<string, ConfigVariable<unknown>>;
