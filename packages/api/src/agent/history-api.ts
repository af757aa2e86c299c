/**
 * The agent's route of the holder's history.
 *
 * @module
 */

import { defineRoute } from '../openapi/route.ts';
import { holderUnavailable } from '../openapi/unavailable.ts';
import { historyQuery, historySchema } from './history.ts';

export const historyRoutes = {
  history: defineRoute({
    id: 'history',
    method: 'GET',
    path: '/api/history',
    summary: 'What happened to the holder’s notes in one token',
    description:
      'One page, oldest first, up to the newest final block. `more` tells that there are later entries: send the id of the last one as ' +
      '`after`. The first call can take minutes, as that of the balance. Payees of transfers come from the agent’s own archive, until ' +
      'retention erases them. The key must be one of the holder’s own wallet; the loopback token does not reach this route.',
    auth: { scheme: 'holderKey', needs: 'holder.read' },
    query: historyQuery,
    answers: { 200: { description: 'One page of the history.', schema: historySchema } },
    errors: {
      400: ['invalid_request', 'unknown_token', 'invalid-chain'],
      401: ['unauthorized'],
      403: ['forbidden', 'forbidden_host'],
      429: ['rate_limited'],
      500: ['spend_unreadable'],
      503: holderUnavailable,
    },
  }),
} as const;
