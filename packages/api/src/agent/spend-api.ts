/**
 * The agent's routes that spend the holder's notes: transfer and send.
 *
 * @module
 */
import {
  consolidateRequestSchema,
  consolidationSchema,
  sendRequestSchema,
  spendReceiptSchema,
  transferRequestSchema,
} from '@pool/core';
import { defineRoutes } from '../openapi/route.ts';
import { listErrors } from '../openapi/route-errors.ts';
import { idempotencyKeyHeaderSchema } from '../openapi/shared-schemas.ts';

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

const forbidden = ['forbidden', 'forbidden_host'] as const;

const malformed = [
  'invalid_request',
  'invalid-chain',
  'unknown_token',
  'invalid-amount',
  'prover_mock',
] as const;

const errors = {
  ...listErrors([...forbidden, 'ceiling_exceeded', 'holder_read_only']).writing,
  409: [
    'idempotency_conflict',
    'insufficient_funds',
    'consolidation_required',
    'note_already_spent',
    'configuration_changed',
  ],
  500: ['spend_not_archived', 'spend_unreadable'],
  503: [
    'platform_unreachable',
    'verification_unavailable',
    'holder_unavailable',
    'chain_unreachable',
    'note_history_incomplete',
    'disk_full',
    'stopping',
  ],
  504: ['settlement_expired', 'spend_unfinished'],
} as const;

export const spendRoutes = defineRoutes({
  transfer: {
    at: 'POST /api/transfer',
    summary: 'Pay other holders inside the pool',
    description,
    auth: { scheme: 'transferKey', needs: 'holder.transfer' },
    headers: { 'idempotency-key': idempotencyKeyHeaderSchema },
    body: transferRequestSchema,
    answers,
    errors: {
      ...errors,
      400: [...malformed, 'too_many_recipients', 'duplicate-recipient', 'unregistered-recipient'],
    },
  },
  send: {
    at: 'POST /api/send',
    summary: 'Withdraw from the pool to a pinned address',
    description,
    auth: { scheme: 'sendKey', needs: 'holder.send' },
    headers: { 'idempotency-key': idempotencyKeyHeaderSchema },
    body: sendRequestSchema,
    answers,
    errors: {
      ...errors,
      400: [...malformed, 'unpinned_destination'],
    },
  },
  consolidate: {
    at: 'POST /api/consolidate',
    summary: 'Merge notes of the holder, by one step',
    description:
      'Performs one step: a spend that pays nobody and makes one note out of up to 16. Answers on the same connection when it is final, ' +
      'which takes minutes. Repeat the call until `steps` has at most one entry. The plan is made again for each call, so a call can be repeated after ' +
      'any error: a step that is underway is attached to, also after a restart of the agent, and no note is in two steps. With ' +
      '`dryRun`, the steps and their time are answered and nothing is proved. No ceiling applies, because nothing leaves the holder.',
    auth: { scheme: 'transferKey', needs: 'holder.transfer' },
    body: consolidateRequestSchema,
    answers: {
      200: {
        description: 'The steps, and the one that was performed.',
        schema: consolidationSchema,
      },
    },
    errors: {
      ...errors,
      400: malformed,
      403: forbidden,
      409: ['insufficient_funds', 'note_already_spent', 'configuration_changed'],
      503: [...errors[503], 'notes_unavailable'],
    },
  },
});
