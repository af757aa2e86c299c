/**
 * One request of each of the gate's routes, and what it answers.
 *
 * @module
 */
import { eligibilityDepth } from '@pool/core';
import type { RouteExample } from '../openapi/route.ts';

const walletId = '0x0b63a53787021a4a962a452c2921b3663aff1ffd8d5510540f8e659e782956f1';
const root = '0x1fd5bb5b8c2c55a4b54ac7fd2e2a1e0a4d1c6bfc14ea9e2f3a0c4f0e59f4f8aa';
const sibling = `0x${'0'.repeat(64)}`;
const walletPub = '0x0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';

export const gateExamples: Readonly<Record<string, RouteExample>> = {
  livez: { answers: { 200: { ok: true } } },
  readyz: { answers: { 200: { ok: true } } },
  metrics: { answers: { 200: 'pool_eligibility_tree_fill 0.42\n' } },
  grantToken: {
    body: {
      grant_type: 'client_credentials',
      client_id: 'agent',
      client_secret: 'the secret of this client',
      scope: 'gate.read',
    },
    answers: {
      200: {
        access_token: 'the token',
        token_type: 'Bearer',
        expires_in: 900,
        scope: 'gate.read',
      },
    },
  },
  findPaths: {
    body: { walletIds: [walletId] },
    answers: {
      200: {
        root,
        paths: [
          {
            walletId,
            index: 5,
            siblings: Array.from({ length: eligibilityDepth }, () => [sibling, sibling, sibling]),
          },
        ],
        missing: [],
      },
    },
  },
  getRoot: {
    answers: {
      200: {
        root,
        wallets: 6,
        txHash: '0x997eb126079e4b7fe5d23f1f5d5c6fb71d2bce61aed3dc2c16763f606b5e6dba',
      },
    },
  },
  getCapacity: { answers: { 200: { capacity: 1_048_576, used: 6, nearlyFull: false } } },
  putWallet: {
    parameters: { walletId },
    body: { walletPub },
    answers: {
      200: { walletId, status: 'whitelisted', root, whitelistedAt: '2026-11-21T10:00:00.000Z' },
    },
  },
  putReader: {
    parameters: { clientId: 'reader-4fTq2mZpXb7Kc9Ra' },
    body: {
      generation: 1795255200,
      secretHash: '0x9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    },
    answers: { 200: { clientId: 'reader-4fTq2mZpXb7Kc9Ra' } },
  },
  removeWallet: {
    parameters: { walletId },
    answers: { 200: { walletId, status: 'removed', root } },
  },
};
