/**
 * The agent's routes that spend the holder's notes: transfer and send.
 *
 * @module
 */
import { sendRequestSchema, spendReceiptSchema, transferRequestSchema } from '@pool/core';
import { defineRoute } from './route.ts';
import { idempotencyKeyHeaderSchema } from './shared-schemas.ts';

const description =
  'Answers on the same connection when the outcome is final, which takes minutes: set the read time-out accordingly. The same key with ' +
  'the same body reads the same outcome, with another body 409. After 504 `spend_unfinished` the spend can still land: read the chain ' +
  'or the balance before you pay again. With `dryRun`, everything is proved and nothing is sent. The key must be one of the holder’s ' +
  'own wallet; the loopback token does not reach this route.';

const answers = {
  200: { description: 'The receipt.', schema: spendReceiptSchema },
  422: {
    description: 'The transaction reverted, the spend can no longer land, and nothing moved.',
    schema: spendReceiptSchema,
  },
} as const;

const errors = {
  401: ['unauthorized'],
  403: ['forbidden', 'forbidden_host', 'ceiling_exceeded'],
  409: [
    'idempotency_conflict',
    'insufficient_funds',
    'consolidation_required',
    'note_already_spent',
    'configuration_changed',
  ],
  413: ['payload_too_large'],
  429: ['rate_limited'],
  500: ['spend_not_archived', 'spend_unreadable'],
  503: [
    'platform_unavailable',
    'verification_unavailable',
    'holder_unavailable',
    'role_token_missing',
    'chain_unreachable',
    'stopping',
  ],
  504: ['settlement_expired', 'spend_unfinished'],
} as const;

export const spendRoutes = {
  transfer: defineRoute({
    id: 'transfer',
    method: 'POST',
    path: '/api/transfer',
    summary: 'Pay other holders inside the pool',
    description,
    auth: { scheme: 'transferKey', needs: 'holder.transfer' },
    headers: { 'idempotency-key': idempotencyKeyHeaderSchema },
    body: transferRequestSchema,
    answers,
    errors: {
      ...errors,
      400: [
        'invalid_request',
        'invalid-chain',
        'unknown_token',
        'too_many_recipients',
        'invalid-amount',
        'duplicate-recipient',
        'unregistered-recipient',
        'prover_mock',
      ],
    },
  }),
  send: defineRoute({
    id: 'send',
    method: 'POST',
    path: '/api/send',
    summary: 'Withdraw from the pool to a pinned address',
    description,
    auth: { scheme: 'sendKey', needs: 'holder.send' },
    headers: { 'idempotency-key': idempotencyKeyHeaderSchema },
    body: sendRequestSchema,
    answers,
    errors: {
      ...errors,
      400: [
        'invalid_request',
        'invalid-chain',
        'unknown_token',
        'unpinned_destination',
        'invalid-amount',
        'prover_mock',
      ],
    },
  }),
} as const;
