/**
 * `custodian_b` in a configuration: an API user, and the funder's vault account.
 *
 * @module
 */
import { evmAddress, opaqueSecret, serviceUrl, text } from '@pool/configuration';
import { createApproverClient } from '../approver/approver-client.ts';
import { createCustodianBSigner } from '../custodian-b/custodian-b-signer.ts';
import { custodianAnswers, privateKeyPem, readApprove } from './custodian-values.ts';
import { complete, type FunderRole, variablesOf } from './signer-role.ts';

const variable = variablesOf('disburse');
const variables = {
  url: variable('DISBURSE_CUSTODIAN_B_URL', 'API of custodian B', serviceUrl),
  apiKey: variable('DISBURSE_CUSTODIAN_B_API_KEY', 'id of the API user', opaqueSecret, {
    credential: { fields: ['apiKey'] },
  }),
  apiSecret: variable('DISBURSE_CUSTODIAN_B_API_SECRET', 'RSA key of that user', privateKeyPem, {
    credential: { fields: ['privateKey'], isText: true },
  }),
  vaultAccountId: variable(
    'DISBURSE_CUSTODIAN_B_VAULT_ACCOUNT',
    "the funder's vault account",
    text,
  ),
  assetId: variable(
    'DISBURSE_CUSTODIAN_B_ASSET',
    'asset id, which chooses key and chain: that of `DISBURSE_CHAIN`',
    text,
  ),
  address: variable('DISBURSE_CUSTODIAN_B_ADDRESS', 'address of that vault account', evmAddress),
} as const;

export const custodianBFunder = {
  variables: Object.values(variables),
  address: variables.address,
  withoutHolder: 'custodian B has no holder signer, because it signs no bare digest',
  answers: custodianAnswers,
  voteSecrets: ['APPROVE_CUSTODIAN_B_API_SECRET', 'APPROVE_CUSTODIAN_B_CALLBACK_PRIVATE_KEY'],
  read(reader) {
    const found = complete({
      url: reader.need(variables.url),
      apiKey: reader.need(variables.apiKey),
      apiSecret: reader.need(variables.apiSecret),
      approve: readApprove(reader),
      vaultAccountId: reader.need(variables.vaultAccountId),
      assetId: reader.need(variables.assetId),
      address: reader.need(variables.address),
    });
    if (found === undefined) {
      return undefined;
    }
    const { approve, ...vault } = found;
    return {
      ...found,
      open: ({ allow, assetChainId }) =>
        createCustodianBSigner({
          ...vault,
          ...(assetChainId === undefined ? {} : { assetChainId }),
          ...{ allow, approver: createApproverClient(approve) },
        }),
    };
  },
} as const satisfies FunderRole;
