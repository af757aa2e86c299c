/**
 * `/agent-edge`: the routes that agents call, and the notes that a holder reads.
 *
 * @module
 */

import { described, evmAddressSchema, optional, tokenSymbolSchema } from '@pool/core';
import * as v from 'valibot';
import { gatePathsResponseSchema } from '../gate/gate.ts';
import { type Api, bearer, defineRoutes } from '../openapi/route.ts';
import { foreign, limited, listErrors } from '../openapi/route-errors.ts';
import {
  chainKey,
  idempotencyKeyHeaderSchema,
  jobKeyParamSchema,
} from '../openapi/shared-schemas.ts';
import * as edge from './edge.ts';
import { edgeExamples } from './edge-examples.ts';
import * as tree from './note-tree.ts';
import * as settlements from './settlements.ts';
import * as spends from './spends.ts';

const edgeToken = { scheme: 'edgeToken' } as const;
const spender = { scheme: 'holderKey', needs: 'holder.transfer or holder.send' } as const;

const { reading, writing } = listErrors(['edge_token_not_allowed', ...foreign]);
const chainDown = ['chain_unreachable'] as const;
const verifierDown = [...chainDown, 'verifier_unavailable'] as const;
const unprovable = [
  'invalid_request',
  'invalid-chain',
  'proof_invalid',
  'size_unsupported',
  'deadline_too_far',
] as const;

function settlement(description: string) {
  return { description, schema: settlements.settlementRecordSchema };
}

function spend(description: string) {
  return { description, schema: spends.spendRecordSchema };
}

export const edgeRoutes = defineRoutes({
  bootstrap: {
    at: 'POST /agent-edge/bootstrap',
    summary: 'The agent’s employer and the settings that the platform vends to it',
    auth: edgeToken,
    body: edge.bootstrapRequestSchema,
    answers: { 200: { description: 'The deployment.', schema: edge.bootstrapResponseSchema } },
    errors: { ...writing, 400: ['invalid_request'] },
  },
  lookupRecipients: {
    at: 'POST /agent-edge/recipients/lookup',
    summary: 'Keys, readiness and evidence of recipients by address',
    description: 'One record per address, in the order and spelling of the request.',
    auth: edgeToken,
    body: edge.recipientLookupRequestSchema,
    answers: { 200: { description: 'The records.', schema: edge.recipientLookupResponseSchema } },
    errors: { ...writing, 400: ['invalid_request', 'invalid-chain'] },
  },
  findEligibilityPaths: {
    at: 'POST /agent-edge/eligibility-paths',
    summary: 'Eligibility paths of the payees of a transfer',
    description:
      'For a wallet that cannot call the pool-gate, as one in a page. The platform asks the gate and passes its answer on; a wallet that is not ' +
      'on the list is in `missing`. The caller reads the root from the chain and verifies each path against it. The platform learns no more than ' +
      'at the look-up of the same payees. The wallet of the key must be admitted, and each request counts as a repeated spend.',
    auth: { scheme: 'holderKey', needs: 'holder.transfer' },
    body: edge.eligibilityPathsRequestSchema,
    answers: { 200: { description: 'Paths to the root.', schema: gatePathsResponseSchema } },
    errors: {
      ...writing,
      400: ['invalid_request', 'invalid-chain', 'invalid_field_element'],
      403: ['forbidden', 'spender_not_admitted', ...foreign],
      409: ['eligibility_root_too_old', 'no_gate'],
      502: ['gate_unauthorized', 'gate_invalid_response'],
      503: ['gate_unreachable', 'eligibility_root_unknown'],
    },
  },
  postSettlement: {
    at: 'POST /agent-edge/settlements',
    summary: 'Post a proved and signed batch for settlement',
    auth: edgeToken,
    headers: { 'idempotency-key': idempotencyKeyHeaderSchema },
    body: settlements.settlementRequestSchema,
    answers: {
      200: settlement('The settlement of this key has ended.'),
      202: settlement('Stored, or under way.'),
    },
    errors: {
      ...writing,
      400: [...unprovable, 'invalid_settlement'],
      409: ['idempotency_conflict'],
      503: verifierDown,
      429: [...limited, 'gas_budget_exceeded'],
    },
  },
  getSettlement: {
    at: 'GET /agent-edge/settlements/{key}',
    summary: 'Read a settlement by its job’s key',
    auth: edgeToken,
    params: { key: jobKeyParamSchema },
    answers: { 200: settlement('It has ended.'), 202: settlement('It is under way.') },
    errors: { ...reading, 404: ['settlement_not_found'], 503: chainDown },
  },
  postVoid: {
    at: 'POST /agent-edge/settlements/{key}/void',
    summary: 'Withdraw the batch of a settlement',
    description:
      'From then on the platform sends voidBatch() and no fund(). The settlement ends `reverted` with the code ' +
      '`batch_voided`, or `settled` if fund() landed first. Repeating the call changes nothing. A settlement that was never posted ' +
      'is stored from `batch`.',
    auth: edgeToken,
    params: { key: jobKeyParamSchema },
    body: settlements.voidRequestSchema,
    answers: {
      200: settlement('The settlement has ended.'),
      202: settlement('The withdrawal is stored, or fund() has landed and is not final.'),
    },
    errors: {
      ...writing,
      400: ['invalid_request', 'invalid-chain', 'invalid_settlement'],
      404: ['not_found'],
      409: ['idempotency_conflict'],
      503: verifierDown,
      429: [...limited, 'gas_budget_exceeded'],
    },
  },
  redeliverNotes: {
    at: 'POST /agent-edge/settlements/{key}/notes',
    summary: 'Deliver the sealed notes of a settled batch again',
    description:
      'For a platform that lost them. Accepted only if a final block holds the batch with the hash of exactly these notes. Repeating ' +
      'the call changes nothing.',
    auth: edgeToken,
    params: { key: jobKeyParamSchema },
    body: settlements.deliverySchema,
    answers: {
      200: settlement('The notes are stored and served.'),
      202: settlement('The notes are stored; the index settles the batch next.'),
    },
    errors: {
      ...writing,
      400: ['invalid_request', 'invalid-chain', 'invalid_settlement'],
      409: ['not_settled', 'idempotency_conflict'],
      503: verifierDown,
    },
  },
  getNotes: {
    at: 'GET /agent-edge/notes',
    summary: 'Sealed notes of the holder, oldest first',
    description:
      'Those that are labelled with the holder’s P, and all notes of spends for whose labels nobody vouches: try the viewing key on each. ' +
      'A commitment counts if the chain has it.',
    auth: { scheme: 'holderKey', needs: 'holder.read' },
    query: {
      chain: chainKey('to read notes of'),
      token: described(
        tokenSymbolSchema,
        'Symbol of the token to read notes of, for example `USDC`.',
      ),
      cursor: optional(
        v.pipe(v.string(), v.regex(/^(-1|[0-9]{1,9})\.(-1|[0-9]{1,4})\.[0-9]{1,9}$/)),
        '`cursor` of the page before, unchanged. Absent: the first page.',
      ),
    },
    answers: { 200: { description: 'A page.', schema: edge.notesResponseSchema } },
    errors: {
      ...reading,
      400: ['invalid_request', 'invalid-chain', 'invalid-token'],
      403: ['forbidden', ...foreign],
      503: ['notes_unavailable'],
    },
  },
  postSpend: {
    at: 'POST /agent-edge/spends',
    summary: 'Post a proved and signed transfer or withdrawal of a holder',
    description:
      'A `holder.transfer` key posts spends with withdrawAmount 0, a `holder.send` key the others.',
    auth: spender,
    headers: { 'idempotency-key': idempotencyKeyHeaderSchema },
    body: spends.spendRequestSchema,
    answers: {
      200: spend('The spend of this key has ended.'),
      202: spend('Stored, or under way.'),
    },
    errors: {
      ...writing,
      400: [...unprovable, 'invalid_spend'],
      403: ['forbidden', 'spender_not_admitted', ...foreign],
      409: ['idempotency_conflict', 'note_already_spent'],
      503: verifierDown,
      429: [...limited, 'gas_budget_exceeded'],
    },
  },
  getSpend: {
    at: 'GET /agent-edge/spends/{key}',
    summary: 'Read a transfer or withdrawal by its key',
    auth: spender,
    params: { key: jobKeyParamSchema },
    answers: { 200: spend('It has ended.'), 202: spend('It is under way.') },
    errors: {
      ...reading,
      403: ['forbidden', ...foreign],
      404: ['spend_not_found'],
      503: chainDown,
    },
  },
  getBatches: {
    at: 'GET /agent-edge/batches',
    summary: 'What the note tree contains, oldest first',
    description:
      'Commitments and nullifiers of all batches and spends that are final. A holder makes the paths of its notes from them, and ' +
      'the platform does not learn which notes those are. All of it is public on chain: compare the last `noteRoot` with the pool. A page ' +
      'with `next` never changes: it has an `ETag`, and a repeated request with `If-None-Match` is answered with 304 and no body. If the ' +
      'request names the pool, the page has `Cache-Control: public, immutable`; otherwise caches must ask again each time. Where wallets are admitted by invitation or screening, the wallet of the credential must be. The bytes ' +
      'of all credentials of one wallet are counted together.',
    auth: { scheme: 'edgeToken', orScheme: 'holderKey' },
    query: {
      chain: chainKey('to read'),
      from: optional(
        v.pipe(v.string(), v.regex(/^(?:0|[1-9][0-9]{0,8})$/)),
        'Index of the first leaf to read: `next` of the page before. Absent: 0.',
      ),
      pool: optional(
        evmAddressSchema,
        'Address of the chain’s pool, so that caches keep the pages of two pools apart. Another one is refused.',
      ),
    },
    answers: { 200: { description: 'A page.', schema: tree.batchesResponseSchema } },
    errors: {
      ...reading,
      400: ['invalid_request', 'invalid-chain'],
      403: ['forbidden', 'edge_token_not_allowed', ...foreign],
      503: ['notes_unavailable'],
    },
  },
  findNotePaths: {
    at: 'POST /agent-edge/note-paths',
    summary: 'Paths of notes in the note tree',
    description:
      'A fallback for holders that cannot read all batches. The platform learns which notes are about to be spent, so the ' +
      'operator must switch it on (PLATFORM_NOTE_PATHS).',
    auth: { scheme: 'holderKey' },
    body: tree.notePathsRequestSchema,
    answers: { 200: { description: 'Paths to one root.', schema: tree.notePathsResponseSchema } },
    errors: {
      ...writing,
      400: ['invalid_request', 'invalid-chain'],
      403: ['forbidden', 'note_paths_disabled', ...foreign],
      404: ['unknown_leaf'],
      503: ['notes_unavailable'],
    },
  },
});

export const edgeApi: Api = {
  name: 'edge',
  title: 'Pool agent edge',
  description: 'The routes of a platform that agents and holders call, under /agent-edge.',
  servers: [{ url: '/', description: 'The platform that serves this document.' }],
  securitySchemes: {
    edgeToken: bearer('The edge token of an agent, bound to one employer.'),
    holderKey: bearer('An API key of a holder.'),
  },
  schemas: {
    Bootstrap: edge.bootstrapResponseSchema,
    RecipientRecord: edge.recipientRecordSchema,
    SettlementRequest: settlements.settlementRequestSchema,
    SettlementRecord: settlements.settlementRecordSchema,
    VoidRequest: settlements.voidRequestSchema,
    Delivery: settlements.deliverySchema,
    SpendRequest: spends.spendRequestSchema,
    SpendRecord: spends.spendRecordSchema,
  },
  routes: Object.values(edgeRoutes),
  examples: edgeExamples,
};
