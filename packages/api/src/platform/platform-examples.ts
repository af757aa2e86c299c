/**
 * One request of each of the platform's routes, and what it answers.
 *
 * @module
 */
import { type RouteExample, refusal } from '../openapi/route.ts';

const address = '0xc65f18206Ed9d2f431867D05F8fF2734E87e75E0';
const walletPub = '0x0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
const encryptionPublicKey = '0x1c5d2e8f00112233445566778899aabbccddeeff00112233445566778899aa0b';
const nextKey = '0x2a6e3f9011223344556677889900aabbccddeeff112233445566778899aabb1c';
const employerId = '5b1d1f0e-6f55-4d3a-9d53-6f1f2c1a7e01';
const time = '2026-11-21T10:00:00.000Z';
const nonce = 'kq2Zr8mB0xWf41Ls';
// An example of the form; this key was never minted.
const apiKey = 'pool_live_EXAMPLE0_ThisIsTheFormOfAKeyAndNoneThatWasEverMinted';
const keyMetadata = {
  id: 7,
  keyPrefix: 'pool_live_EXAMPLE0',
  capability: 'disburse',
  name: 'payroll server',
  createdAt: time,
};

// An example of the form; this token was never made.
const edgeTokenText = 'pool_edge_EXAMPLE0_ThisIsTheFormOfATokenAndNoneThatWasEverMade';
const edgeToken = {
  id: 3,
  tokenPrefix: 'pool_edge_EXAMPLE0',
  name: 'payroll server',
  issuedBy: 'session',
  createdAt: time,
};

// Examples of the form; no link ever had this code.
const linkCode = 'pool_invite_EXAMPLE0_ThisIsTheFormOfACodeAndNoneThatWasEverMade';
const reference = 'r7Kq2mVx9TzW4bNs';
const openedInvitation = {
  success: true,
  expiresAt: '2026-12-21T10:00:00.000Z',
  employerAddress: address,
  employerName: 'Example Ltd',
  chain: 'base',
  chains: {
    base: {
      chainId: 8453,
      pool: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
      registry: '0x8464135c8F25Da09e49BC8782676a84730C318bC',
      tokens: { USDC: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
    },
  },
};

const signInText = [
  'platform.example wants you to sign in with your Ethereum account:',
  address,
  '',
  'Sign in to pay a roster.',
  '',
  'URI: https://platform.example',
  'Version: 1',
  'Chain ID: 8453',
  `Nonce: ${nonce}`,
  `Issued At: ${time}`,
  'Expiration Time: 2026-11-21T10:05:00.000Z',
  'Resources:',
  `- urn:pool:encryption-key:${encryptionPublicKey}`,
].join('\n');

const enrolled = {
  success: true,
  walletPub,
  encryptionPublicKey,
  readiness: 'ready',
  eligibilityWhitelistedAt: time,
};

export const platformExamples: Readonly<Record<string, RouteExample>> = {
  livez: { answers: { 200: { ok: true } } },
  readyz: { answers: { 200: { ok: true } } },
  metrics: { answers: { 200: 'pool_relayer_ok{chain="base"} 1\n' } },
  createNonce: {
    answers: { 200: { nonce, expiresAt: '2026-11-21T10:05:00.000Z', chainIds: [8453] } },
  },
  verifySession: {
    body: { message: signInText, signature: `0x${'5a'.repeat(64)}1b` },
    answers: {
      200: { success: true, address, walletPub, expiresAt: '2026-11-21T22:00:00.000Z' },
      401: refusal('invalid_signature', 'the signature is not of the address in the text'),
    },
  },
  logout: { answers: { 200: { success: true } } },
  register: {
    body: { name: 'Example Ltd' },
    answers: { 200: { success: true, created: true, employerId, address } },
  },
  onboard: {
    body: { walletPub, encryptionPublicKey },
    answers: {
      200: { created: true, ...enrolled },
      403: refusal('wallet_mismatch', 'walletPub is not of the wallet that signed in'),
      503: refusal(
        'tree_full',
        'the eligibility tree is full; nobody can be enrolled until the operator makes room',
      ),
    },
  },
  rotateEncryptionKey: {
    body: {
      walletPub,
      currentEncryptionPublicKey: encryptionPublicKey,
      encryptionPublicKey: nextKey,
    },
    answers: { 200: { rotated: true, ...enrolled, encryptionPublicKey: nextKey } },
  },
  getEnrollment: { answers: { 200: enrolled } },
  invite: {
    body: { addresses: [address] },
    answers: {
      200: { success: true, walletLimit: 1_000, walletsTaken: 1 },
      403: refusal(
        'invitation_quota_exhausted',
        'this employer may not invite wallets; ask the operator of the platform',
      ),
    },
  },
  listInvitations: {
    answers: {
      200: {
        success: true,
        walletLimit: 1_000,
        walletsTaken: 1,
        invitations: [{ address, createdAt: time, enrolledAt: time }],
      },
    },
  },
  cancelInvitation: { parameters: { address }, answers: { 200: { success: true } } },
  createInvitationLinks: {
    body: { references: [reference], days: 30 },
    answers: {
      201: {
        success: true,
        walletLimit: 1_000,
        walletsTaken: 1,
        links: [{ reference, code: linkCode, expiresAt: openedInvitation.expiresAt }],
      },
      409: refusal(
        'invitation_taken',
        `a wallet has accepted the link ${reference}: revoke it first, or use another reference`,
      ),
    },
  },
  listInvitationLinks: {
    answers: {
      200: {
        success: true,
        walletLimit: 1_000,
        walletsTaken: 1,
        links: [
          {
            reference,
            state: 'accepted',
            createdAt: time,
            expiresAt: openedInvitation.expiresAt,
            openedAt: time,
            address,
            acceptedAt: time,
          },
        ],
      },
    },
  },
  revokeInvitationLink: { parameters: { reference }, answers: { 200: { success: true } } },
  openInvitation: {
    body: { code: linkCode },
    answers: {
      200: { ...openedInvitation, state: 'open' },
      404: refusal(
        'not_found',
        'no invitation has this code: the link is incomplete, or was replaced; ask your employer for a new one',
      ),
    },
  },
  acceptInvitation: {
    body: { code: linkCode },
    answers: {
      200: { ...openedInvitation, state: 'accepted' },
      409: refusal(
        'invitation_taken',
        'another wallet has accepted this invitation: sign in with that one, or ask your employer for a new link',
      ),
    },
  },
  mintKey: {
    body: { capability: 'disburse', name: 'payroll server' },
    answers: {
      201: { success: true, apiKey, ...keyMetadata },
      409: refusal('key_limit_reached', 'a wallet may have 50 live API keys; revoke one first'),
    },
  },
  listKeys: {
    answers: { 200: { success: true, keys: [{ ...keyMetadata, revokedAt: time }] } },
  },
  revokeKey: { parameters: { id: '7' }, answers: { 200: { success: true } } },
  mintEdgeToken: {
    body: { name: 'payroll server' },
    answers: {
      201: { success: true, ...edgeToken, employerId, token: edgeTokenText },
      403: refusal(
        'edge_token_not_allowed',
        'the wallet of this employer is not enrolled: enrol it first, or ask the operator of the platform for an edge token',
      ),
    },
  },
  listEdgeTokens: { answers: { 200: { success: true, edgeTokens: [edgeToken] } } },
  revokeEdgeToken: { parameters: { id: '3' }, answers: { 200: { success: true } } },
  verifyKey: {
    body: { apiKey },
    answers: { 200: { valid: true, capability: 'disburse', employerId, address, keyId: 7 } },
  },
};
