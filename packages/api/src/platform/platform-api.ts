/**
 * The platform's routes: sign-in, employer account, enrolment, API keys, and their verification.
 *
 * @module
 */
import { described } from '@pool/core';
import * as v from 'valibot';
import { metricsToken, probeRoutes } from '../openapi/probe-routes.ts';
import { type Api, bearer, defineRoutes } from '../openapi/route.ts';
import { foreign, limited, listErrors, tooLarge } from '../openapi/route-errors.ts';
import * as accounts from './accounts.ts';
import * as links from './invitation-links.ts';
import * as invitations from './invitations.ts';
import { platformExamples } from './platform-examples.ts';

const session = { scheme: 'session' } as const;

const badRequest = ['invalid_request'] as const;
const { reading, writing } = listErrors(foreign);
/** No account, or that of a contract of the same address on another chain. */
const noAccount = ['employer_not_found', 'contract_on_another_chain'] as const;

function idParam(what: string, path: string) {
  return described(
    v.pipe(v.string(), v.regex(/^[1-9][0-9]{0,8}$/)),
    `Number of the ${what}, as \`POST\` and \`GET ${path}\` answer it in \`id\`.`,
  );
}

export const platformRoutes = {
  ...probeRoutes,
  ...defineRoutes({
    createNonce: {
      at: 'GET /api/auth/nonce',
      summary: 'A nonce for one sign-in text',
      description:
        'The text is EIP-4361, version 1: the platform’s host as its domain, the platform’s URL as its URI, a chain of ' +
        'the deployment, this nonce, when it was issued and when it expires. The example of POST /api/auth/verify is one.',
      answers: {
        200: { description: 'Good for one sign-in.', schema: accounts.nonceResponseSchema },
      },
      errors: { 403: foreign, 429: limited, 503: ['too_many_sign_ins'] },
    },
    verifySession: {
      at: 'POST /api/auth/verify',
      summary: 'Sign in with a signed EIP-4361 text',
      description:
        'Sets the cookie sessionId. To enrol or rotate, the text lists the one resource urn:pool:encryption-key:<P>. ' +
        'If the signature is not by the address’s own key, the contract at the address verifies it, on the chain that ' +
        'the text names (ERC-1271). A contract wallet’s session may register and mint disburse keys; having no ' +
        'public key of its own it cannot enrol. Its signature must not be wrapped (EIP-6492).',
      body: accounts.verifySessionRequestSchema,
      answers: {
        200: {
          description: 'A session is open.',
          schema: accounts.verifySessionResponseSchema,
          setsCookie: true,
        },
      },
      errors: {
        ...writing,
        400: ['invalid_request', 'invalid_sign_in'],
        401: ['invalid_sign_in', 'invalid_signature', 'contract_wallet_unsupported'],
        503: ['chain_unreachable', 'too_many_sign_ins'],
      },
    },
    logout: {
      at: 'POST /api/auth/logout',
      summary: 'End the session of the cookie, if there is one',
      answers: {
        200: {
          description: 'The session has ended.',
          schema: accounts.successResponseSchema,
          setsCookie: true,
        },
      },
      errors: { 403: foreign, 413: tooLarge, 429: limited },
    },
    register: {
      at: 'POST /api/employers/register',
      summary: 'Open the employer account of the session’s wallet',
      auth: session,
      body: accounts.registerRequestSchema,
      answers: {
        200: { description: 'The account, new or not.', schema: accounts.registerResponseSchema },
      },
      errors: { ...writing, 400: badRequest, 409: ['contract_on_another_chain'] },
    },
    onboard: {
      at: 'POST /api/employers/holder/onboard',
      summary: 'Enrol the session’s wallet as a holder',
      description:
        'Idempotent for the same pair of keys; repeating it retries the pool-gate. Where the deployment requires ' +
        'invitations, an employer must have invited the session’s address.',
      auth: session,
      body: accounts.onboardRequestSchema,
      answers: { 200: { description: 'Enrolled.', schema: accounts.onboardResponseSchema } },
      errors: {
        ...writing,
        400: ['invalid_request', 'invalid_wallet_pub', 'invalid_encryption_key'],
        403: ['contract_wallet_unsupported', 'wallet_mismatch', 'not_invited', ...foreign],
        409: ['employer_not_found', 'use_rotate', 'evidence_required', 'encryption_key_taken'],
        503: ['tree_full'],
      },
    },
    rotateEncryptionKey: {
      at: 'POST /api/employers/holder/rotate-encryption-key',
      summary: 'Change the key that notes are sealed to from now on',
      description:
        'Earlier notes stay sealed to the previous key, and its viewing key still opens them. The session’s ' +
        'sign-in text lists the new key.',
      auth: session,
      body: accounts.rotateRequestSchema,
      answers: {
        200: { description: 'The key now registered.', schema: accounts.rotateResponseSchema },
      },
      errors: {
        ...writing,
        400: ['invalid_request', 'invalid_wallet_pub', 'invalid_encryption_key'],
        403: ['contract_wallet_unsupported', 'wallet_mismatch', ...foreign],
        409: [
          'employer_not_found',
          'not_enrolled',
          'encryption_key_mismatch',
          'evidence_required',
          'encryption_key_taken',
        ],
      },
    },
    getEnrollment: {
      at: 'GET /api/employers/holder/enrollment',
      summary: 'Read the enrolment as last written',
      auth: session,
      answers: {
        200: { description: 'The enrolment.', schema: accounts.enrollmentResponseSchema },
      },
      errors: reading,
    },
    invite: {
      at: 'POST /api/employers/invitations',
      summary: 'Invite wallets to enrol',
      description:
        'Matters only where the deployment requires invitations. Either all addresses are invited or none. A repeated ' +
        'invitation lasts longer. The wallet itself enrols by the same calls as without an invitation.',
      auth: session,
      body: invitations.inviteRequestSchema,
      answers: {
        200: { description: 'They are invited.', schema: invitations.inviteResponseSchema },
      },
      errors: {
        ...writing,
        400: ['invalid_request', 'invalid-address'],
        403: ['invitation_quota_exhausted', ...foreign],
        409: noAccount,
      },
    },
    listInvitations: {
      at: 'GET /api/employers/invitations',
      summary: 'Wallets that the employer has invited, enrolled ones included',
      auth: session,
      answers: {
        200: { description: 'By address.', schema: invitations.listInvitationsResponseSchema },
      },
      errors: { ...reading, 409: noAccount },
    },
    cancelInvitation: {
      at: 'DELETE /api/employers/invitations/{address}',
      summary: 'Cancel an unused invitation',
      auth: session,
      params: {
        address: described(
          v.pipe(v.string(), v.maxLength(64)),
          'EVM address of the invited wallet: 0x and 40 hex digits.',
        ),
      },
      answers: {
        200: {
          description: 'The invitation is cancelled.',
          schema: accounts.successResponseSchema,
        },
      },
      errors: {
        ...writing,
        400: ['invalid-address'],
        404: ['not_found'],
        409: [...noAccount, 'invitation_used'],
      },
    },
    createInvitationLinks: {
      at: 'POST /api/employers/invitation-links',
      summary: 'Make links that invite people who have no wallet yet',
      description:
        'Only this answer contains the codes. Put a code into the fragment of the address of the payee’s page: ' +
        '`/payee/#invite=<code>`. Each link counts as an invitation until it is used, expires or is revoked. Either all links ' +
        'are made or none.',
      auth: session,
      body: links.createLinksRequestSchema,
      answers: {
        201: { description: 'The links.', schema: links.createLinksResponseSchema },
      },
      errors: {
        ...writing,
        400: badRequest,
        403: ['invitation_quota_exhausted', ...foreign],
        409: [...noAccount, 'invitation_taken'],
      },
    },
    listInvitationLinks: {
      at: 'GET /api/employers/invitation-links',
      summary: 'Links of the employer, and what became of each',
      auth: session,
      answers: { 200: { description: 'By reference.', schema: links.listLinksResponseSchema } },
      errors: { ...reading, 409: noAccount },
    },
    revokeInvitationLink: {
      at: 'DELETE /api/employers/invitation-links/{reference}',
      summary: 'Revoke a link whose wallet has not enrolled',
      description:
        'Repeating it changes nothing. A wallet that accepted the link is not invited any more.',
      auth: session,
      params: { reference: links.linkReferenceSchema },
      answers: { 200: { description: 'It is revoked.', schema: accounts.successResponseSchema } },
      errors: {
        ...writing,
        404: ['not_found'],
        409: [...noAccount, 'invitation_used'],
      },
    },
    openInvitation: {
      at: 'POST /api/invitations/open',
      summary: 'What a link is: who invites, to which pools, until when',
      description:
        'The employer sees that the link was opened. The code is in the body, so that no log has it.',
      body: links.invitationCodeRequestSchema,
      answers: { 200: { description: 'The invitation.', schema: links.openedInvitationSchema } },
      errors: {
        400: badRequest,
        403: foreign,
        404: ['not_found'],
        413: tooLarge,
        429: limited,
      },
    },
    acceptInvitation: {
      at: 'POST /api/invitations/accept',
      summary: 'Bind a link to the session’s wallet',
      description:
        'One wallet may accept a link; for that wallet the call is idempotent. It is invited from then on, and enrols by the ' +
        'usual calls.',
      auth: session,
      body: links.invitationCodeRequestSchema,
      answers: {
        200: { description: 'This wallet is invited.', schema: links.openedInvitationSchema },
      },
      errors: {
        ...writing,
        400: badRequest,
        403: ['contract_wallet_unsupported', ...foreign],
        404: ['not_found'],
        409: ['invitation_taken', 'invitation_ended'],
      },
    },
    mintKey: {
      at: 'POST /api/employers/keys',
      summary: 'Mint an API key for one capability',
      description:
        'Only this answer contains the plaintext. Minting revokes no other key. A contract wallet may mint disburse keys only.',
      auth: session,
      body: accounts.mintKeyRequestSchema,
      answers: { 201: { description: 'The key.', schema: accounts.mintKeyResponseSchema } },
      errors: {
        ...writing,
        400: badRequest,
        403: ['contract_wallet_unsupported', ...foreign],
        409: [...noAccount, 'key_limit_reached'],
      },
    },
    listKeys: {
      at: 'GET /api/employers/keys',
      summary: 'Every key ever issued to the wallet, revoked ones included',
      auth: session,
      answers: { 200: { description: 'Metadata only.', schema: accounts.listKeysResponseSchema } },
      errors: { ...reading, 409: noAccount },
    },
    revokeKey: {
      at: 'DELETE /api/employers/keys/{id}',
      summary: 'Revoke one key',
      auth: session,
      params: {
        id: idParam('key', '/api/employers/keys'),
      },
      answers: { 200: { description: 'It is revoked.', schema: accounts.successResponseSchema } },
      errors: { ...writing, 404: ['not_found'], 409: noAccount },
    },
    mintEdgeToken: {
      at: 'POST /api/employers/edge-tokens',
      summary: 'Make an edge token for an agent of the employer',
      description:
        'Only this answer contains the plaintext. Where the deployment admits wallets by invitation or screening, the ' +
        'session’s wallet must be enrolled, or the operator must have given the employer a token. An employer may have ' +
        '10 live tokens that it made itself. Such a token does not give the right to invite wallets.',
      auth: session,
      body: accounts.mintEdgeTokenRequestSchema,
      answers: {
        201: { description: 'The edge token.', schema: accounts.mintEdgeTokenResponseSchema },
      },
      errors: {
        ...writing,
        400: badRequest,
        403: ['edge_token_not_allowed', ...foreign],
        409: [...noAccount, 'key_limit_reached'],
      },
    },
    listEdgeTokens: {
      at: 'GET /api/employers/edge-tokens',
      summary: 'Every edge token of the employer, revoked ones included',
      auth: session,
      answers: {
        200: { description: 'Metadata only.', schema: accounts.listEdgeTokensResponseSchema },
      },
      errors: { ...reading, 409: noAccount },
    },
    revokeEdgeToken: {
      at: 'DELETE /api/employers/edge-tokens/{id}',
      summary: 'Revoke one edge token of the employer',
      auth: session,
      params: {
        id: idParam('token', '/api/employers/edge-tokens'),
      },
      answers: { 200: { description: 'It is revoked.', schema: accounts.successResponseSchema } },
      errors: { ...writing, 404: ['not_found'], 409: noAccount },
    },
    verifyKey: {
      at: 'POST /api/employers/verify-key',
      summary: 'Capability and employer of an API key, for agents',
      auth: { scheme: 'edgeToken' },
      body: accounts.verifyKeyRequestSchema,
      answers: { 200: { description: 'The verdict.', schema: accounts.verifyKeyResponseSchema } },
      errors: { ...writing, 400: badRequest, 403: ['edge_token_not_allowed', ...foreign] },
    },
  }),
} as const;

export const platformApi: Api = {
  name: 'platform',
  title: 'Pool platform',
  description:
    'Accounts, enrolment and API keys. The routes of agents have a document of their own.',
  servers: [{ url: '/', description: 'The platform that serves this document.' }],
  securitySchemes: {
    metricsToken,
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: 'sessionId',
      description: 'Set by POST /api/auth/verify.',
    },
    edgeToken: bearer('The edge token of an agent, bound to one employer.'),
  },
  schemas: {
    EdgeTokenMetadata: accounts.edgeTokenMetadataSchema,
    Invitation: invitations.invitationSchema,
    InvitationLink: links.invitationLinkSchema,
    KeyMetadata: accounts.keyMetadataSchema,
  },
  routes: Object.values(platformRoutes),
  examples: platformExamples,
};
