/**
 * The variables of signers outside the agent's process: enclaves, custodians and the approve process. A part of the table in
 * variables.ts.
 *
 * @module
 */
import {
  evmAddress,
  headerPrefix,
  pcrPins,
  privateKeyPem,
  rootSha256,
  urlOrigin,
} from './custody-kinds.ts';
import * as kinds from './kinds.ts';

const withA = 'of the service account at custodian A';
const ofFunder = "the funder's enclave";
const ofHolder = "the holder's enclave";

export const custodyVariables = {
  voteLimitSeconds: {
    name: 'DISBURSE_VOTE_LIMIT_SECONDS',
    role: 'disburse',
    purpose:
      'how long people may take to approve a batch at a custodian, in seconds. The deadline of the batch includes it. The platform must accept that deadline (its `PLATFORM_VOTE_LIMIT_SECONDS`)',
    kind: kinds.integer(60, 2_592_000),
    fallback: () => 86_400,
  },
  holderVoteLimitSeconds: {
    name: 'DISBURSE_HOLDER_VOTE_LIMIT_SECONDS',
    role: 'transfer, send',
    purpose:
      'how long people may take to approve a spend at a custodian, in seconds. The deadline of the spend includes it, and its notes stay locked until then',
    kind: kinds.integer(60, 604_800),
    fallback: () => 3_600,
  },
  approveUrl: {
    name: 'DISBURSE_APPROVE_URL',
    role: 'disburse, holder',
    purpose:
      'the approve process, which receives each manifest before a custodian is asked to sign. Required by custodians. On another host it is reached through a tunnel that ends on loopback',
    kind: kinds.serviceUrl,
    whenUnset: 'none',
  },
  approveToken: {
    name: 'DISBURSE_APPROVE_TOKEN',
    role: 'disburse, holder',
    purpose:
      'bearer token of the approve process, for manifests only. Refused if it equals any other credential',
    kind: kinds.bearerSecret(20),
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
    purpose: 'origin in the client data of user actions at custodian A',
    kind: urlOrigin,
    whenUnset: 'the origin of `DISBURSE_CUSTODIAN_A_URL`',
  },
  custodianAHeaderPrefix: {
    name: 'DISBURSE_CUSTODIAN_A_HEADER_PREFIX',
    role: 'disburse, holder',
    purpose: "prefix of custodian A's own headers, which ends with a hyphen",
    kind: headerPrefix,
    fallback: () => 'x-',
  },
  custodianAServiceToken: {
    name: 'DISBURSE_CUSTODIAN_A_SERVICE_TOKEN',
    role: 'disburse, holder',
    purpose: `bearer token ${withA}`,
    kind: kinds.opaqueSecret,
    whenUnset: 'none',
    credential: { fields: ['token'] },
  },
  custodianACredentialId: {
    name: 'DISBURSE_CUSTODIAN_A_CREDENTIAL_ID',
    role: 'disburse, holder',
    purpose: `id of the credential ${withA}`,
    kind: kinds.text,
    whenUnset: 'none',
  },
  custodianAServiceKey: {
    name: 'DISBURSE_CUSTODIAN_A_SERVICE_KEY',
    role: 'disburse, holder',
    purpose: `key of that credential, Ed25519 or P-256. It asks for signatures and approves none`,
    kind: privateKeyPem,
    whenUnset: 'none',
    credential: { fields: ['privateKey'], isText: true },
  },
  custodianAWalletId: {
    name: 'DISBURSE_CUSTODIAN_A_WALLET_ID',
    role: 'disburse',
    purpose: "the funder's wallet at custodian A",
    kind: kinds.text,
    whenUnset: 'none',
  },
  custodianAAddress: {
    name: 'DISBURSE_CUSTODIAN_A_ADDRESS',
    role: 'disburse',
    purpose: 'address of that wallet. The agent accepts no signature of another one',
    kind: evmAddress,
    whenUnset: 'none',
  },
  custodianAHolderWalletId: {
    name: 'DISBURSE_CUSTODIAN_A_HOLDER_WALLET_ID',
    role: 'holder, identity',
    purpose:
      "the holder's wallet at custodian A. It must not be the funder's, and must hold nothing else",
    kind: kinds.text,
    whenUnset: 'none',
  },
  custodianAHolderWalletPub: {
    name: 'DISBURSE_CUSTODIAN_A_HOLDER_WALLET_PUB',
    role: 'holder, identity',
    purpose: 'W of that wallet',
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
    purpose: 'id of the API user at custodian B',
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
    purpose: "the funder's vault account at custodian B",
    kind: kinds.text,
    whenUnset: 'none',
  },
  custodianBAsset: {
    name: 'DISBURSE_CUSTODIAN_B_ASSET',
    role: 'disburse',
    purpose: 'asset id at custodian B, which chooses key and chain: that of `DISBURSE_CHAIN`',
    kind: kinds.text,
    whenUnset: 'none',
  },
  custodianBAddress: {
    name: 'DISBURSE_CUSTODIAN_B_ADDRESS',
    role: 'disburse',
    purpose: 'address of that vault account. The agent accepts no signature of another one',
    kind: evmAddress,
    whenUnset: 'none',
  },
  enclaveSocket: {
    name: 'DISBURSE_ENCLAVE_SOCKET',
    role: 'disburse',
    purpose: `AF_UNIX socket of ${ofFunder}, or of the bridge to it`,
    kind: kinds.path,
    whenUnset: 'none',
  },
  enclaveAddress: {
    name: 'DISBURSE_ENCLAVE_ADDRESS',
    role: 'disburse',
    purpose: `address of the key of ${ofFunder}`,
    kind: evmAddress,
    whenUnset: 'none',
  },
  enclaveRootSha256: {
    name: 'DISBURSE_ENCLAVE_ROOT_SHA256',
    role: 'disburse',
    purpose: `fingerprint of the root certificate that attests ${ofFunder}. A development root is refused under \`NODE_ENV=production\``,
    kind: rootSha256,
    whenUnset: 'none',
  },
  enclavePcrs: {
    name: 'DISBURSE_ENCLAVE_PCRS',
    role: 'disburse',
    purpose: `measurements of the code of ${ofFunder}`,
    kind: pcrPins,
    whenUnset: 'none',
  },
  enclaveDeterministic: {
    name: 'DISBURSE_ENCLAVE_DETERMINISTIC',
    role: 'disburse',
    purpose: `\`false\` if the key of ${ofFunder} is in a PKCS#11 token: its signatures do not repeat`,
    kind: kinds.choice<'true' | 'false'>(['true', 'false']),
    fallback: () => 'true' as const,
  },
  holderEnclaveSocket: {
    name: 'DISBURSE_HOLDER_ENCLAVE_SOCKET',
    role: 'holder, identity',
    purpose: `AF_UNIX socket of ${ofHolder}, or of the bridge to it`,
    kind: kinds.path,
    whenUnset: 'none',
  },
  holderEnclaveWalletPub: {
    name: 'DISBURSE_HOLDER_ENCLAVE_WALLET_PUB',
    role: 'holder, identity',
    purpose: `W of ${ofHolder}`,
    kind: kinds.walletPub,
    whenUnset: 'none',
  },
  holderEnclaveRootSha256: {
    name: 'DISBURSE_HOLDER_ENCLAVE_ROOT_SHA256',
    role: 'holder, identity',
    purpose: `fingerprint of the root certificate that attests ${ofHolder}`,
    kind: rootSha256,
    whenUnset: 'none',
  },
  holderEnclavePcrs: {
    name: 'DISBURSE_HOLDER_ENCLAVE_PCRS',
    role: 'holder, identity',
    purpose: `measurements of the code of ${ofHolder}`,
    kind: pcrPins,
    whenUnset: 'none',
  },
  holderEnclaveDeterministic: {
    name: 'DISBURSE_HOLDER_ENCLAVE_DETERMINISTIC',
    role: 'holder, identity',
    purpose: `\`false\` if the key of ${ofHolder} is in a PKCS#11 token: its signatures do not repeat, so no viewing key derives from them, and a spend whose answer was lost is not asked for again`,
    kind: kinds.choice<'true' | 'false'>(['true', 'false']),
    fallback: () => 'true' as const,
  },
} satisfies Record<string, kinds.ConfigVariable<unknown>>;
