/**
 * What the configurations of both custodians share.
 *
 * @module
 */
import { accept, bearerSecret, type Kind, reject, serviceUrl } from '@pool/configuration';
import { Secret } from '@pool/core';
import { type ApproveConnection, complete, type SignerReader, variablesOf } from './signer-role.ts';

/** A private key as PKCS#8 in PEM. In one line, `\n` stands for a line break. */
export const privateKeyPem: Kind<Secret> = {
  label: 'secret, private key in PEM (PKCS#8)',
  parse(text) {
    const pem = text.replaceAll('\\n', '\n').trim();
    return /^-----BEGIN PRIVATE KEY-----\n[A-Za-z0-9+/=\s]+\n-----END PRIVATE KEY-----$/.test(pem)
      ? accept(new Secret(`${pem}\n`))
      : reject(
          'must be a private key in PEM that begins with -----BEGIN PRIVATE KEY-----; name its file with the _FILE form',
        );
  },
};

export const custodianAnswers =
  'the custodian answers, and the wallet has the configured address; whether a vote is given shows at the first payment';

const variable = variablesOf('disburse, holder');

export const approveVariables = {
  url: variable(
    'DISBURSE_APPROVE_URL',
    'the approve process, which receives each manifest first. Required by custodians; another host through a tunnel to loopback',
    serviceUrl,
  ),
  token: variable(
    'DISBURSE_APPROVE_TOKEN',
    'bearer token of the approve process',
    bearerSecret(20),
    { credential: { fields: ['token'] } },
  ),
} as const;

export function readApprove({ need }: SignerReader): ApproveConnection | undefined {
  return complete({ url: need(approveVariables.url), token: need(approveVariables.token) });
}
