// The table of disbursement errors: status, code and precedence on the route, and the same problems in a report.
import { createFakeHolder } from '@pool/testkit';
import { describe, expect, it } from 'vitest';
import { createTestApp, type TestAppOptions, token } from '../fixtures/test-app.ts';

const good = createFakeHolder(1).address;
const stranger = createFakeHolder(99).address;

type Entry = { readonly recipientAddress: string; readonly amount: string };
type Row = {
  readonly what: string;
  readonly code: string;
  readonly requestIndex: number;
  readonly body: unknown;
  readonly app?: TestAppOptions;
};

function pay(recipientAddress: string, amount = '5'): Entry {
  return { recipientAddress, amount };
}
function request(recipients: readonly Entry[], changes: object = {}): object {
  return {
    token: 'USDC',
    recipients,
    ...changes,
  };
}
const many = Array.from({ length: 4 }, (_, index) => pay(createFakeHolder(index + 1).address));

/** In the order of precedence. */
const rows: readonly Row[] = [
  { what: 'a missing field', code: 'invalid_request', body: { token: 'USDC' } },
  { what: 'a wrong type', code: 'invalid_request', body: { token: 7, recipients: [pay(good)] } },
  { what: 'an empty list', code: 'invalid_request', body: request([]) },
  { what: 'null', code: 'invalid_request', body: null },
  { what: 'no JSON', code: 'invalid_request', body: '{' },
  {
    what: 'an unknown chain',
    code: 'invalid-chain',
    body: request([pay(good)], { chain: 'mars' }),
  },
  {
    what: 'an unsupported platform',
    code: 'invalid-chain',
    body: request([pay(good)], { chain: 'neptune' }),
  },
  {
    what: 'a chain without a pool',
    code: 'invalid-chain',
    body: request([pay(good)], { chain: 'solana' }),
  },
  {
    what: 'no funder signer for its curve',
    code: 'invalid-chain',
    body: request([pay(good)]),
    app: { hasFunder: false },
  },
  {
    what: 'an unknown token',
    code: 'invalid-token',
    body: request([pay(good)], { token: 'DOGE' }),
  },
  {
    what: 'the raw address of a configured token',
    code: 'invalid-token',
    body: request([pay(good)], { token }),
  },
  { what: 'too many recipients', code: 'batch-too-large', body: request(many) },
  ...['0', '-1', '+1', '1.5', '01', '1e3', ' 1', ''].map((amount) => ({
    what: `amount ${JSON.stringify(amount)}`,
    code: 'invalid-amount',
    requestIndex: 0,
    body: request([pay(good, amount)]),
  })),
  {
    what: 'no address',
    code: 'invalid-address',
    requestIndex: 0,
    body: request([pay('0x12')]),
  },
  {
    what: 'the same address twice',
    code: 'duplicate-recipient',
    requestIndex: 1,
    body: request([pay(good), pay(good.toLowerCase())]),
  },
  {
    what: 'a recipient without W and P',
    code: 'unregistered-recipient',
    requestIndex: 1,
    body: request([pay(good), pay(stranger)]),
  },
].map((row) => ({ requestIndex: -1, ...row }));

describe.each(rows)('$what', ({ code, requestIndex, body, app }) => {
  it(`is 400 ${code} on disburse, code and message alone, and leaves no job [disburse.first-issue-alone, error.invalid-request, error.invalid-chain-unknown, error.invalid-chain-platform, error.invalid-chain-pool, error.invalid-chain-signer, error.invalid-token, error.invalid-amount, error.invalid-address, error.duplicate-recipient, error.unregistered-recipient]`, async () => {
    const { post, get, state } = createTestApp(app);
    const answer = await post('june', body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({ code, message: expect.stringMatching(/\S/) });
    expect((await get('/api/disburse/june')).status).toBe(404);
    expect(state.wakes).toBe(0);
  });

  it('is one issue of a report with 200 on validate [report.issues, validate.same-checks, error.validate-lists-instead]', async () => {
    const { validate } = createTestApp(app);
    const answer = await validate(body);
    expect(answer.status).toBe(200);
    const report = (await answer.json()) as { ok: boolean; issues: object[] };
    expect(report.ok).toBe(false);
    expect(report.issues[0]).toEqual({
      requestIndex,
      code,
      message: expect.stringMatching(/\S/),
      severity: 'error',
    });
  });
});

describe('precedence', () => {
  // All problems at once; each step repairs the problem for which the previous step was refused.
  const bad = { recipientAddress: 'me', amount: '0' };
  const steps: [string, unknown][] = [
    ['invalid_request', { token: 'DOGE', chain: 'mars', recipients: [bad, bad, bad, bad], x: 1 }],
    ['invalid-chain', { token: 'DOGE', chain: 'mars', recipients: [bad, bad, bad, bad] }],
    ['invalid-token', { token: 'DOGE', recipients: [bad, bad, bad, bad] }],
    ['batch-too-large', request([bad, bad, bad, bad])],
    ['invalid-amount', request([pay(stranger), { ...bad }, pay(stranger)])],
    ['invalid-address', request([pay(stranger), pay('me'), pay(stranger)])],
    ['duplicate-recipient', request([pay(stranger), pay(good), pay(stranger)])],
    ['unregistered-recipient', request([pay(good), pay(stranger)])],
  ];
  it('is body, chain, token, size, amount, address, duplicate, registration [disburse.first-issue-alone]', async () => {
    const { post } = createTestApp();
    const codes: unknown[] = [];
    for (const [, body] of steps) {
      codes.push(((await (await post('june', body)).json()) as { code: string }).code);
    }
    expect(codes).toEqual(steps.map(([code]) => code));
  });

  it('answers the conflict of a used key before it checks the body', async () => {
    const { post, request: original } = createTestApp();
    await post('june', original);
    const answer = await post('june', request([bad]));
    expect(answer.status).toBe(409);
    expect(await answer.json()).toEqual({
      code: 'idempotency_conflict',
      message: expect.stringMatching(/\S/),
    });
  });
});
