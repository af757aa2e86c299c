/**
 * One request of each of the agent's routes, and what it answers.
 *
 * @module
 */
import { type RouteExample, refusal } from '../openapi/route.ts';

const key = 'payroll-2026-11';
const anna = '0x8EF31ED37e5320931Bf85677De447824a66c9991';
const ben = '0x751CA7928deBE9e5DBE56adC2A366E5F61bed0B0';

const request = {
  token: 'USDC',
  chain: 'base',
  recipients: [
    { recipientAddress: anna, amount: '3000000000', memo: 'November' },
    { recipientAddress: ben, amount: '4000000000' },
  ],
  unregistered: 'fail',
};

const done = {
  key,
  state: 'done',
  result: {
    status: 'completed',
    batches: [
      {
        index: 0,
        txHash: '0x997eb126079e4b7fe5d23f1f5d5c6fb71d2bce61aed3dc2c16763f606b5e6dba',
        recipientCount: 2,
        status: 'success',
      },
    ],
    notes: [
      {
        requestIndex: 0,
        recipientAddress: anna,
        commitment: '0x278aaeec52a92534b9904a097cbbacd4965e662911fd9833614e2b6326580731',
        amount: '3000000000',
        status: 'success',
      },
      {
        requestIndex: 1,
        recipientAddress: ben,
        commitment: '0x29c2c467a60d928a16dbd9e6a6694b052e1320562785d8ce0c62559f5aea4e94',
        amount: '4000000000',
        status: 'success',
      },
    ],
    skipped: [],
    allowance: { state: 'insufficient' },
  },
};
const statusUrl = `/api/disburse/${key}`;

function check(kind: string, message: string, latencyMs: number) {
  return {
    ok: true,
    detail: { kind, message },
    latencyMs,
  };
}
const checks = {
  accelerator: check('cpu', 'proves on the processor', 1),
  signer: check('local-key', 'the funder can sign', 1),
  poolGate: check('reachable', 'the gate answers', 12),
  platform: check('reachable', 'the platform knows this agent', 9),
  chains: check('reachable', 'the RPC of each chain answers', 7),
};
const gateDown = {
  ok: false,
  detail: { kind: 'gate_unreachable', message: 'the pool-gate does not answer' },
  latencyMs: 2_000,
};

export const agentExamples: Readonly<Record<string, RouteExample>> = {
  livez: { answers: { 200: { ok: true, version: '1.0.0', uptimeSeconds: 86_400 } } },
  readyz: {
    answers: {
      200: { ok: true, checks },
      503: { ok: false, checks: { ...checks, poolGate: gateDown } },
    },
  },
  metrics: { answers: { 200: 'pool_prover_queued 0\n' } },
  disburse: {
    parameters: { 'idempotency-key': key },
    body: request,
    answers: {
      200: { ...done, statusUrl },
      202: { key, state: 'accepted', statusUrl },
      400: refusal('invalid-token', 'token must be a symbol configured for chain base: USDC'),
      409: refusal(
        'idempotency_conflict',
        'this Idempotency-Key was used with another body; send a new key for a new payment',
      ),
    },
  },
  validate: {
    body: { ...request, recipients: [{ recipientAddress: anna, amount: '1.5' }] },
    answers: {
      200: {
        ok: false,
        allowanceState: 'unknown',
        issues: [
          {
            requestIndex: 0,
            code: 'invalid-amount',
            message: 'recipients[0]: amount must be a whole number of base units',
            severity: 'error',
          },
        ],
      },
    },
  },
  getDisbursement: {
    parameters: { key },
    answers: {
      200: done,
      404: refusal('not_found', 'this agent has never seen that key'),
    },
  },
  cancelDisbursement: {
    parameters: { key },
    answers: {
      200: {
        key,
        state: 'failed',
        error: {
          code: 'cancelled',
          message:
            'the job was cancelled: the funder withdrew its authorisation, and nothing was paid; to pay after all, use a new Idempotency-Key',
        },
      },
      404: refusal('not_found', 'this agent has never seen that key'),
    },
  },
  balance: {
    parameters: { token: 'USDC' },
    answers: {
      200: {
        total: '7000000000',
        symbol: 'USDC',
        notes: 2,
        largestNote: '4000000000',
        chain: 'base',
      },
      400: refusal('unknown_token', 'token must be a symbol configured for chain base: EURC, USDC'),
    },
  },
  history: {
    parameters: {
      token: 'USDC',
      from: '2026-01-01T00:00:00Z',
      to: '2027-01-01T00:00:00Z',
      after: '38.2',
    },
    answers: {
      200: {
        chain: 'base',
        symbol: 'USDC',
        decimals: 6,
        walletPub: '0x02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5',
        entries: [
          {
            kind: 'received',
            id: '41.7',
            time: '2026-05-29T09:30:00Z',
            index: 41,
            txHash: '0x997eb126079e4b7fe5d23f1f5d5c6fb71d2bce61aed3dc2c16763f606b5e6dba',
            balance: '7000000000',
            amount: '7000000000',
            memo: 'May',
            slot: 7,
            commitment: '0x102de1a05ace848fd029d2e9920e652ffe853dcefc7335aa58302a59a7f24a7a',
            isChange: false,
          },
          {
            kind: 'transfer',
            id: '58',
            time: '2026-06-02T18:04:12Z',
            index: 58,
            txHash: '0x278aaeec52a92534b9904a097cbbacd4965e662911fd9833614e2b6326580731',
            balance: '6750000000',
            spent: '7000000000',
            change: '6750000000',
            fee: '0',
            amount: '250000000',
            payees: [
              {
                walletPub: '0x0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
                amount: '250000000',
              },
            ],
          },
        ],
        more: false,
      },
      400: refusal('invalid_request', 'the query.token: missing'),
    },
  },
  transfer: {
    parameters: { 'idempotency-key': 'invoice-77' },
    body: {
      token: 'USDC',
      recipients: [
        {
          walletPub: '0x0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
          amount: '250000000',
        },
      ],
    },
    answers: {
      200: {
        operation: 'transfer',
        status: 'success',
        txHash: '0x997eb126079e4b7fe5d23f1f5d5c6fb71d2bce61aed3dc2c16763f606b5e6dba',
        nullifiers: ['0x102de1a05ace848fd029d2e9920e652ffe853dcefc7335aa58302a59a7f24a7a'],
        changeAmount: '50000000',
      },
      409: refusal(
        'insufficient_funds',
        'the notes that are free to spend hold 200 USDC (200000000 base units)',
      ),
    },
  },
  consolidate: {
    body: { token: 'USDC', until: '900000000' },
    answers: {
      200: {
        chain: 'base',
        steps: [
          { notes: 16, amount: '160000000' },
          { notes: 6, amount: '75000000' },
        ],
        seconds: 76,
        receipt: {
          operation: 'transfer',
          status: 'success',
          txHash: '0x997eb126079e4b7fe5d23f1f5d5c6fb71d2bce61aed3dc2c16763f606b5e6dba',
          nullifiers: ['0x102de1a05ace848fd029d2e9920e652ffe853dcefc7335aa58302a59a7f24a7a'],
          changeAmount: '160000000',
        },
      },
    },
  },
  send: {
    parameters: { 'idempotency-key': 'payout-12' },
    body: { token: 'USDC', amount: '100000000', to: 'treasury' },
    answers: {
      200: {
        operation: 'send',
        status: 'success',
        txHash: '0x278aaeec52a92534b9904a097cbbacd4965e662911fd9833614e2b6326580731',
        nullifiers: ['0x1e852d17d50bab1b8d811678590a000fa1d0296df4b1234618b312a33415b5aa'],
        changeAmount: '0',
      },
      400: refusal(
        'unpinned_destination',
        'to must be a label of DISBURSE_SEND_DESTINATIONS: treasury; an address is never accepted',
      ),
    },
  },
};
