/**
 * The agent's own routes: submit, validate and read a disbursement, the holder's balance and spends, readiness, liveness, metrics.
 *
 * @module
 */

import {
  allowanceStateSchema,
  consolidateRequestSchema,
  consolidationSchema,
  described,
  disbursementErrorCodes,
  disbursementJobSchema,
  disbursementResultSchema,
  disburseRequestSchema,
  optional,
  sendRequestSchema,
  spendReceiptSchema,
  submittedJobSchema,
  transferRequestSchema,
} from '@pool/core';
import * as v from 'valibot';
import { type Api, bearer, defineRoutes } from '../openapi/route.ts';
import { holderUnavailable, listErrors, unavailable } from '../openapi/route-errors.ts';
import {
  flag,
  idempotencyKeyHeaderSchema,
  jobKeyParamSchema,
  text,
} from '../openapi/shared-schemas.ts';
import { agentExamples } from './agent-examples.ts';
import { balanceSchema } from './balance.ts';
import { historyQuery, historySchema } from './history.ts';
import { spendRoutes } from './spend-api.ts';

const disburse = { scheme: 'agentCredential', needs: 'disburse' } as const;

const checkSchema = v.strictObject({
  ok: flag('True: a payment can use this part now.'),
  detail: described(
    v.strictObject({
      kind: text(
        'What was found, for programs, for example `reachable`, `timeout` or `gate_unreachable`.',
      ),
      message: text('What was found, for people. Its wording may change; it names no secret.'),
    }),
    'What the check found, for programs and for people.',
  ),
  latencyMs: described(v.number(), 'Duration of the check in milliseconds.'),
});
const readinessReportSchema = described(
  v.strictObject({
    ok: flag('True: every check is `ok`, and the agent can pay.'),
    checks: described(
      v.strictObject({
        accelerator: described(
          checkSchema,
          'The prover and what it computes on: GPU or processor.',
        ),
        signer: described(
          checkSchema,
          'The funder signer, which signs the authorisation of a batch, and the signer of the holder. An agent without a funder signer that has a key of a holder’s role needs none.',
        ),
        poolGate: described(
          checkSchema,
          'The pool-gate, which answers the recipients’ eligibility paths.',
        ),
        platform: described(
          checkSchema,
          'The platform, this agent’s edge token there, and its relayer.',
        ),
        chains: described(checkSchema, 'The RPC of each chain of chains.json that has a pool.'),
        jobStore: v.optional(
          described(
            checkSchema,
            'The PostgreSQL database that this agent shares with others, if there is one.',
          ),
        ),
      }),
      'One check for each part that a payment needs.',
    ),
  }),
  'Whether the agent can pay now, part by part.',
);

const validationReportSchema = described(
  v.strictObject({
    ok: flag('True: `issues` is empty, and nothing else would stop the batch now.'),
    allowanceState: described(
      allowanceStateSchema,
      'Whether the token’s allowance for the pool covers the total now. `insufficient` stops nothing: the agent grants what ' +
        'is missing.',
    ),
    issues: described(
      v.array(
        v.strictObject({
          requestIndex: described(
            v.pipe(v.number(), v.integer(), v.minValue(-1)),
            'Position of the recipient in `recipients`, from 0; -1: the request as a whole.',
          ),
          code: described(
            v.picklist(['invalid_request', ...disbursementErrorCodes]),
            'The code with which `POST /api/disburse` would refuse the request.',
          ),
          message: text(
            'What is wrong, where, and what to do, for people. Its wording may change.',
          ),
          severity: described(
            v.picklist(['error']),
            '`error`: `POST /api/disburse` would refuse the batch because of this issue.',
          ),
        }),
      ),
      'Everything wrong with the request, in the order of the checks.',
    ),
    preflight: optional(
      v.array(
        v.strictObject({
          code: text(
            'Stable code for programs; docs/errors.md lists the codes and what to do about each.',
          ),
          message: text('What was found and what to do, for people. Its wording may change.'),
          severity: optional(
            v.picklist(['warning']),
            '`warning`: look at it before you pay; it stops nothing. Absent: it would stop the batch now.',
          ),
        }),
      ),
      'What besides the request would stop the batch now (money, services), and warnings. Absent: there is nothing to ' +
        'report.',
    ),
    skipped: optional(
      disbursementResultSchema.entries.skipped,
      'Recipients whom `unregistered: skip` would leave unpaid. Absent: none.',
    ),
  }),
  'Result of a dry run: what is wrong with the request, and what else would stop it.',
);

const livenessSchema = v.strictObject({
  ok: described(v.literal(true), 'Always true: the process answers.'),
  version: text('Version of the agent’s software, for example `1.0.0`.'),
  uptimeSeconds: described(v.number(), 'Whole seconds since the process started.'),
});

const { reading, writing } = listErrors(['forbidden', 'forbidden_host']);

export const agentRoutes = {
  ...defineRoutes({
    livez: {
      at: 'GET /api/livez',
      summary: 'Liveness of the process',
      answers: { 200: { description: 'The process is alive.', schema: livenessSchema } },
      errors: { 403: ['forbidden_host'] },
    },
    readyz: {
      at: 'GET /api/readyz',
      summary: 'Readiness of every part that a payment needs',
      answers: {
        200: { description: 'Every part is ready.', schema: readinessReportSchema },
        503: {
          description: 'A part is not ready; the report names it.',
          schema: readinessReportSchema,
        },
      },
      errors: { 403: ['forbidden_host'] },
    },
    metrics: {
      at: 'GET /metrics',
      summary: 'Counters for Prometheus',
      description:
        'Takes the metrics token or the loopback token. Names no amount, address or key.',
      auth: { scheme: 'metricsCredential' },
      answers: {
        200: {
          description: 'The text format of Prometheus.',
          schema: v.string(),
          contentType: 'text/plain',
        },
      },
      errors: { 401: ['unauthorized'], 403: ['forbidden_host'] },
    },
    disburse: {
      at: 'POST /api/disburse',
      summary: 'Pay a batch of recipients',
      description:
        'Stops at the first problem. The same key with the same body answers the original job, with another body 409. A key that was ' +
        'used answers 200 once its job has ended, and 202 until then.',
      auth: disburse,
      headers: { 'idempotency-key': idempotencyKeyHeaderSchema },
      body: disburseRequestSchema,
      answers: {
        200: { description: 'The job of this key has ended.', schema: submittedJobSchema },
        202: { description: 'Accepted, or still under way.', schema: submittedJobSchema },
      },
      errors: {
        ...writing,
        400: ['invalid_request', ...disbursementErrorCodes],
        409: ['idempotency_conflict'],
        503: [...unavailable, 'employer_mismatch', 'tenancy_unreadable'],
      },
    },
    validate: {
      at: 'POST /api/validate',
      summary: 'Everything wrong with a disbursement, without paying',
      description:
        'Runs all checks of a disbursement; proves and submits nothing. A body that is malformed or too large is ' +
        'reported as an issue.',
      auth: disburse,
      body: disburseRequestSchema,
      answers: { 200: { description: 'The report.', schema: validationReportSchema } },
      errors: { ...reading, 503: unavailable },
    },
    getDisbursement: {
      at: 'GET /api/disburse/{key}',
      summary: 'Read a disbursement by its Idempotency-Key',
      auth: disburse,
      params: { key: jobKeyParamSchema },
      answers: {
        200: { description: 'The current state of the job.', schema: disbursementJobSchema },
      },
      errors: { ...reading, 404: ['not_found'], 503: unavailable },
    },
    cancelDisbursement: {
      at: 'DELETE /api/disburse/{key}',
      summary: 'Cancel a disbursement',
      description:
        'Before the batch is released, the job fails with `cancelled` at once. After that the funder withdraws the ' +
        'authorisation, and the answer waits for a final block. This can take minutes: set the read time-out accordingly. A ' +
        'caller that disconnects can repeat the request; the cancellation continues. A batch that settles first is answered as ' +
        '`done`: it was paid. A job that ended earlier is answered unchanged. 409 `configuration_changed`: the job began with ' +
        'another funder, pool, token or chain than the agent has now, so the agent cannot end it; the cancellation is stored.',
      auth: disburse,
      params: { key: jobKeyParamSchema },
      answers: { 200: { description: 'The job, which has ended.', schema: disbursementJobSchema } },
      errors: {
        ...reading,
        404: ['not_found'],
        409: ['configuration_changed'],
        503: [...unavailable, 'stopping'],
      },
    },
    balance: {
      at: 'GET /api/balance',
      summary: 'What the holder can spend in one token',
      description:
        'Reads what is new on the chain and at the platform, then answers. It moves nothing and needs no GPU. The first call reads the ' +
        'whole history of the pool and can take minutes: set the read time-out accordingly. A caller that disconnects can repeat the ' +
        'request; the reading continues. The key must be one of the holder’s own wallet; the loopback token does not reach this route.',
      auth: { scheme: 'holderKey', needs: 'holder.read' },
      query: { token: historyQuery.token },
      answers: { 200: { description: 'The balance.', schema: balanceSchema } },
      errors: {
        ...reading,
        400: ['invalid_request', 'unknown_token', 'invalid-chain'],
        503: holderUnavailable,
      },
    },
    history: {
      at: 'GET /api/history',
      summary: 'What happened to the holder’s notes in one token',
      description:
        'One page, oldest first, up to the newest final block. `more` tells that there are later entries: send the id of the last one as ' +
        '`after`. The first call can take minutes, as that of the balance. Payees of transfers come from the agent’s own archive, until ' +
        'retention erases them. The key must be one of the holder’s own wallet; the loopback token does not reach this route.',
      auth: { scheme: 'holderKey', needs: 'holder.read' },
      query: historyQuery,
      answers: { 200: { description: 'One page of the history.', schema: historySchema } },
      errors: {
        ...reading,
        400: ['invalid_request', 'unknown_token', 'invalid-chain'],
        500: ['spend_unreadable'],
        503: holderUnavailable,
      },
    },
  }),
  ...spendRoutes,
} as const;

export const agentApi: Api = {
  name: 'agent',
  title: 'Pool disbursement agent',
  description:
    'The local process that proves, signs and settles disbursements. Listens on loopback by default.',
  servers: [{ url: 'http://127.0.0.1:8787', description: 'The default address of an agent.' }],
  securitySchemes: {
    agentCredential: bearer(
      'An API key with the capability of the route, or the loopback token of this agent.',
    ),
    holderKey: bearer('An API key of the holder’s own wallet, with the capability of the route.'),
    transferKey: bearer('A `holder.transfer` API key of the holder’s own wallet.'),
    sendKey: bearer('A `holder.send` API key of the holder’s own wallet.'),
    metricsCredential: bearer('DISBURSE_METRICS_TOKEN, or the loopback token of this agent.'),
  },
  schemas: {
    DisburseRequest: disburseRequestSchema,
    DisbursementJob: disbursementJobSchema,
    SubmittedJob: submittedJobSchema,
    DisbursementResult: disbursementResultSchema,
    ValidationReport: validationReportSchema,
    ReadinessReport: readinessReportSchema,
    Balance: balanceSchema,
    History: historySchema,
    TransferRequest: transferRequestSchema,
    SendRequest: sendRequestSchema,
    ConsolidateRequest: consolidateRequestSchema,
    Consolidation: consolidationSchema,
    SpendReceipt: spendReceiptSchema,
  },
  routes: Object.values(agentRoutes),
  examples: agentExamples,
};
