/**
 * `custodian_a` in a configuration: a service account, and one wallet for each role.
 *
 * @module
 */
import {
  accept,
  evmAddress,
  type Kind,
  matching,
  opaqueSecret,
  serviceUrl,
  text,
  walletPub,
} from '@pool/configuration';
import { createApproverClient } from '../approver/approver-client.ts';
import { createCustodianAHolder } from '../custodian-a/custodian-a-holder.ts';
import { createCustodianASigner } from '../custodian-a/custodian-a-signer.ts';
import {
  approveVariables,
  custodianAnswers,
  privateKeyPem,
  readApprove,
} from './custodian-values.ts';
import {
  complete,
  type FunderRole,
  type RemoteHolderRole,
  type SignerReader,
  variablesOf,
} from './signer-role.ts';

/** The origin of a URL as a browser writes it, without a path and without a slash at the end. */
const urlOrigin: Kind<string> = {
  label: 'URL',
  parse(value) {
    const parsed = serviceUrl.parse(value);
    return parsed.kind === 'value' ? accept(new URL(parsed.value).origin) : parsed;
  },
};

const ofAccount = variablesOf('disburse, holder');
const ofFunder = variablesOf('disburse');
const ofHolder = variablesOf('holder, identity');
const headerPrefix = matching(
  'prefix of headers',
  (value) => /^x-(?:[a-z0-9-]{0,30}-)?$/.test(value),
  'must begin with x- and end with a hyphen, in lower case',
);

const variables = {
  url: ofAccount('DISBURSE_CUSTODIAN_A_URL', 'API of custodian A', serviceUrl),
  origin: ofAccount(
    'DISBURSE_CUSTODIAN_A_ORIGIN',
    'origin in the client data of user actions',
    urlOrigin,
    { whenUnset: 'the origin of `DISBURSE_CUSTODIAN_A_URL`' },
  ),
  headerPrefix: {
    name: 'DISBURSE_CUSTODIAN_A_HEADER_PREFIX',
    role: 'disburse, holder',
    purpose: "prefix of custodian A's own headers",
    kind: headerPrefix,
    fallback: () => 'x-',
  },
  serviceToken: ofAccount(
    'DISBURSE_CUSTODIAN_A_SERVICE_TOKEN',
    'bearer token of the service account',
    opaqueSecret,
    { credential: { fields: ['token'] } },
  ),
  credentialId: ofAccount(
    'DISBURSE_CUSTODIAN_A_CREDENTIAL_ID',
    "id of the service account's credential",
    text,
  ),
  serviceKey: ofAccount(
    'DISBURSE_CUSTODIAN_A_SERVICE_KEY',
    'key of that credential, Ed25519 or P-256',
    privateKeyPem,
    { credential: { fields: ['privateKey'], isText: true } },
  ),
  walletId: ofFunder('DISBURSE_CUSTODIAN_A_WALLET_ID', "the funder's wallet", text),
  address: ofFunder('DISBURSE_CUSTODIAN_A_ADDRESS', 'its address', evmAddress),
  holderWalletId: ofHolder(
    'DISBURSE_CUSTODIAN_A_HOLDER_WALLET_ID',
    "the holder's wallet: not the funder's, and holding nothing else",
    text,
  ),
  holderWalletPub: ofHolder('DISBURSE_CUSTODIAN_A_HOLDER_WALLET_PUB', 'its W', walletPub),
} as const;
const all = Object.values(variables);

function readAccount({ need, optional, defaulted }: SignerReader) {
  const found = complete({
    url: need(variables.url),
    token: need(variables.serviceToken),
    credentialId: need(variables.credentialId),
    serviceKey: need(variables.serviceKey),
  });
  const origin = optional(variables.origin);
  const headerPrefix = defaulted(variables.headerPrefix);
  return found && { ...found, ...(origin === undefined ? {} : { origin }), headerPrefix };
}

export const custodianAFunder = {
  variables: all,
  address: variables.address,
  answers: custodianAnswers,
  voteSecrets: ['APPROVE_CUSTODIAN_A_SERVICE_TOKEN', 'APPROVE_CUSTODIAN_A_SERVICE_KEY'],
  separations: [
    {
      variable: variables.serviceToken.name,
      differsFrom: ['DISBURSE_PLATFORM_TOKEN', 'POOL_GATE_OAUTH_CLIENT_SECRET'],
      reason: 'the custodian is another party than the platform',
    },
  ],
  read(reader) {
    const found = complete({
      account: readAccount(reader),
      approve: readApprove(reader),
      walletId: reader.need(variables.walletId),
      address: reader.need(variables.address),
    });
    if (found === undefined) {
      return undefined;
    }
    const { account, approve, walletId, address } = found;
    return {
      ...found,
      open: ({ allow }) =>
        createCustodianASigner({
          ...account,
          ...{ walletId, address, allow, approver: createApproverClient(approve) },
        }),
    };
  },
} as const satisfies FunderRole;

export const custodianAHolder = {
  variables: all,
  place: 'remote',
  curve: 'secp256k1',
  walletPub: variables.holderWalletPub,
  walletIds: { holder: variables.holderWalletId, funder: variables.walletId },
  needsVote: true,
  needsViewingKey: true,
  secrets: ['the service token', 'the service key', 'the approve token'],
  answers: "the custodian answers, and the holder's wallet there has the configured key",
  read(reader) {
    const found = complete({
      account: readAccount(reader),
      approve: readApprove(reader),
      walletId: reader.need(variables.holderWalletId),
      walletPub: reader.need(variables.holderWalletPub),
    });
    if (found === undefined) {
      return undefined;
    }
    const { account, approve, ...wallet } = found;
    const address = reader.optional(variables.address);
    const funder =
      address === undefined
        ? undefined
        : { address, walletId: reader.optional(variables.walletId) };
    return {
      ...found,
      open: ({ encryptionPublicKey, pollMs, sleep }) =>
        createCustodianAHolder({
          ...account,
          ...wallet,
          ...{ funder, pollMs, sleep, approver: createApproverClient(approve) },
          ...(encryptionPublicKey === undefined ? {} : { allow: { encryptionPublicKey } }),
        }),
      describe: () => [
        `${variables.url.name}=${account.url}`,
        ...(account.origin === undefined ? [] : [`${variables.origin.name}=${account.origin}`]),
        `${variables.headerPrefix.name}=${account.headerPrefix}`,
        `${variables.credentialId.name}=${account.credentialId}`,
        `${variables.holderWalletId.name}=${wallet.walletId}`,
        `${variables.holderWalletPub.name}=${wallet.walletPub}`,
        `${approveVariables.url.name}=${approve.url}`,
        '# Its credentials. Name the files that contain them:',
        ...[variables.serviceToken, variables.serviceKey, approveVariables.token].map(
          ({ name }) => `#${name}_FILE=`,
        ),
      ],
    };
  },
} as const satisfies RemoteHolderRole;
