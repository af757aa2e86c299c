/**
 * The pool-gate: access tokens, eligibility paths and root, and the list of wallets itself.
 *
 * @module
 */

import { described, eligibilityPathSchema, optional, walletIdSchema } from '@pool/core';
import * as v from 'valibot';
import { metricsToken, probeRoutes } from '../openapi/probe-routes.ts';
import { type Api, bearer, defineRoutes } from '../openapi/route.ts';
import { foreign, limited, tooLarge } from '../openapi/route-errors.ts';
import { text } from '../openapi/shared-schemas.ts';
import * as gate from './gate.ts';
import { gateExamples } from './gate-examples.ts';

const read = { scheme: 'accessToken', needs: 'gate.read' } as const;
const write = { scheme: 'accessToken', needs: 'gate.write' } as const;

const reading = { 401: ['unauthorized'], 403: ['forbidden', ...foreign] } as const;
const writing = { ...reading, 413: tooLarge } as const;
const badWord = ['invalid_value', 'invalid_field_element'] as const;

const tokenRequestSchema = v.object({
  grant_type: described(
    v.literal('client_credentials'),
    'OAuth grant type (RFC 6749 §4.4). The gate knows this one only.',
  ),
  client_id: optional(
    v.string(),
    'OAuth client id. Absent when HTTP Basic carries the credentials.',
  ),
  client_secret: optional(
    v.string(),
    'OAuth client secret. Secret. Absent when HTTP Basic carries the credentials.',
  ),
  scope: optional(
    v.string(),
    'Scopes to grant, separated by spaces: `gate.read`, `gate.write`. Default: all of the client.',
  ),
});
const tokenResponseSchema = v.strictObject({
  access_token: text('Access token for the Authorization header, drawn by the gate. Secret.'),
  token_type: described(
    v.literal('Bearer'),
    'How to present the token: `Authorization: Bearer <access_token>` (RFC 6750).',
  ),
  expires_in: described(v.number(), 'Seconds until the token stops being accepted.'),
  scope: text('Scopes that the token has, separated by spaces.'),
});

/** The error form of RFC 6749 §5.2 and that of this repository in one body. */
function tokenErrorSchema(codes: readonly string[]) {
  return v.strictObject({
    error: described(v.picklist(codes), 'Error code as RFC 6749 §5.2 names it. Equals `code`.'),
    error_description: text('Explanation for people (RFC 6749 §5.2). Equals `message`.'),
    code: described(v.picklist(codes), 'Stable code for programs. Equals `error`.'),
    message: text('Explanation for people. Its wording may change.'),
  });
}

export const gateRoutes = {
  ...probeRoutes,
  ...defineRoutes({
    grantToken: {
      at: 'POST /oauth/token',
      summary: 'An access token for client credentials',
      description: 'Credentials as HTTP Basic or as fields of the form.',
      body: tokenRequestSchema,
      bodyType: 'application/x-www-form-urlencoded',
      answers: {
        200: { description: 'The token.', schema: tokenResponseSchema },
        400: {
          description: 'The request cannot be granted.',
          schema: tokenErrorSchema(['unsupported_grant_type', 'invalid_scope']),
        },
        401: {
          description: 'The client is unknown, or its secret is wrong.',
          schema: tokenErrorSchema(['invalid_client']),
        },
      },
      errors: { 403: foreign, 413: tooLarge, 429: limited },
    },
    findPaths: {
      at: 'POST /v1/paths',
      summary: 'Eligibility paths of wallets',
      description:
        'Under the last final root, or under the root of the request. A replaced root is served for as long as the gate is configured, ' +
        '50 minutes by default.',
      auth: read,
      body: gate.gatePathsRequestSchema,
      answers: { 200: { description: 'Paths to one root.', schema: gate.gatePathsResponseSchema } },
      errors: {
        ...writing,
        400: ['invalid_request', ...badWord],
        409: ['eligibility_root_too_old'],
        503: ['eligibility_root_unknown'],
      },
    },
    getRoot: {
      at: 'GET /v1/root',
      summary: 'The eligibility root and how many wallets it holds',
      auth: read,
      answers: { 200: { description: 'The root.', schema: gate.gateRootResponseSchema } },
      errors: reading,
    },
    getCapacity: {
      at: 'GET /v1/capacity',
      summary: 'How full the eligibility tree is',
      auth: read,
      answers: {
        200: {
          description: 'The number of leaves, and how many are used.',
          schema: gate.gateCapacityResponseSchema,
        },
      },
      errors: reading,
    },
    putWallet: {
      at: 'PUT /v1/wallets/{walletId}',
      summary: 'Screen a wallet and put it on the list',
      description: 'Answers once the root that holds it is final on chain.',
      auth: write,
      params: { walletId: walletIdSchema },
      body: gate.gateWalletRequestSchema,
      answers: {
        200: { description: 'The state of the wallet.', schema: gate.gateWalletResponseSchema },
      },
      errors: {
        ...writing,
        400: ['invalid_request', 'invalid_wallet_pub', ...badWord],
        503: ['publication_failed', 'tree_full'],
      },
    },
    putReader: {
      at: 'PUT /v1/readers/{clientId}',
      summary: "Make an employer's reader, give it another secret, or revoke it",
      description:
        'Its access tokens end at once when its secret changes or it is revoked. Putting the same state again changes nothing.',
      auth: write,
      params: { clientId: gate.gateReaderIdSchema },
      body: gate.gateReaderRequestSchema,
      answers: {
        200: { description: 'The state is stored.', schema: gate.gateReaderResponseSchema },
      },
      errors: { ...writing, 400: ['invalid_request'], 409: ['stale_generation'] },
    },
    removeWallet: {
      at: 'DELETE /v1/wallets/{walletId}',
      summary: 'Take a wallet off the list',
      description:
        'Answers once the root without it is final on chain. Its place in the tree is free from then on.',
      auth: write,
      params: { walletId: walletIdSchema },
      answers: {
        200: { description: 'It is off the list.', schema: gate.gateWalletResponseSchema },
      },
      errors: { ...writing, 400: badWord, 503: ['publication_failed'] },
    },
  }),
} as const;

export const gateApi: Api = {
  name: 'gate',
  title: 'Pool-gate',
  description: 'The list of eligible wallets and the paths that prove membership.',
  servers: [{ url: '/', description: 'The gate that serves this document.' }],
  securitySchemes: {
    metricsToken,
    accessToken: bearer('From POST /oauth/token; carries the scopes gate.read and gate.write.'),
  },
  schemas: { EligibilityPath: eligibilityPathSchema },
  routes: Object.values(gateRoutes),
  examples: gateExamples,
};
