// POST /api/validate over HTTP: 200 for every good credential, with any problems in the report (docs/decisions/0007).

import { createFakeHolder } from '@pool/testkit';
import { expect, it } from 'vitest';
import { apiKey, createTestApp, employerId, loopbackToken } from '../fixtures/test-app.ts';

it('passes a good request without an Idempotency-Key, and stores nothing of it [validate.proves-nothing]', async () => {
  const { validate, chain, request, state, store } = createTestApp();
  chain.allowance = 10n;
  const answer = await validate(request);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({ ok: true, allowanceState: 'sufficient', issues: [] });
  expect(state.wakes).toBe(0);
  const anything = { workerId: 'w', states: ['accepted', 'submitted', 'done', 'failed'] };
  expect(await store.lease({ ...anything, scope: employerId, ttlMs: 1, nowMs: 0 })).toBeUndefined();
});

it('lists different problems at once [validate.every-issue]', async () => {
  const { validate, holders } = createTestApp();
  const [first] = holders;
  const report = (await (
    await validate({
      token: 'DOGE',
      recipients: [
        { recipientAddress: first!.address, amount: '0' },
        { recipientAddress: 'me', amount: '1' },
        { recipientAddress: first!.address, amount: '1' },
      ],
    })
  ).json()) as { issues: { requestIndex: number; code: string }[] };
  expect(report.issues.map(({ requestIndex, code }) => `${requestIndex} ${code}`)).toEqual([
    '-1 invalid-token',
    '0 invalid-amount',
    '1 invalid-address',
    '2 duplicate-recipient',
  ]);
});

it('reports all issues next to a bad memo and in a list that is too long [validate.every-issue]', async () => {
  const { validate, post, holders, platform } = createTestApp({ maxRecipients: 2 });
  const [first] = holders;
  const stranger = createFakeHolder(99).address;
  const pay = (recipientAddress: string, changes: object = {}) => ({
    recipientAddress,
    amount: '1',
    ...changes,
  });
  const body = {
    token: 'USDC',
    recipients: [
      pay(first!.address, { memo: 'canary\u202e' }),
      pay(stranger, { memo: 'canary\0' }),
      pay('me', { amount: '0' }),
    ],
  };
  const answer = await validate(body);
  const text = await answer.text();
  expect(text).not.toContain('canary');
  const { issues } = JSON.parse(text) as { issues: { requestIndex: number; code: string }[] };
  expect(issues.map(({ requestIndex, code }) => `${requestIndex} ${code}`)).toEqual([
    '0 invalid_request',
    '1 invalid_request',
    '-1 batch-too-large',
    '2 invalid-amount',
    '2 invalid-address',
    '1 unregistered-recipient',
  ]);
  expect(platform.lookups).toBe(1);
  const refused = await post('k', body);
  expect(refused.status).toBe(400);
  expect(await refused.json()).toEqual({
    code: 'invalid_request',
    message: expect.stringContaining('recipients[0].memo contains the character U+202E'),
  });
});

it('reports what would stop the batch in addition to its issues [report.ok]', async () => {
  const { validate, chain, request, state } = createTestApp();
  chain.balance = 0n;
  state.outages = [{ code: 'gate_unreachable', message: 'the pool-gate is down' }];
  const answer = await validate(request);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({
    ok: false,
    allowanceState: 'insufficient',
    issues: [],
    preflight: [
      { code: 'insufficient_balance', message: expect.stringContaining('10') },
      { code: 'gate_unreachable', message: 'the pool-gate is down' },
    ],
  });
});

it.each([
  ['no JSON', '{', {}],
  ['an unpaired surrogate', '{"token":"\\ud800","recipients":[]}', {}],
  ['nothing', '', {}],
  ['another content type', '{}', { 'content-type': 'text/plain' }],
  ['more than 4 MiB', `"${'x'.repeat(4 * 1024 * 1024)}"`, {}],
])('has one issue for %s [validate.always-200]', async (_what, body, headers) => {
  const { validate } = createTestApp();
  const answer = await validate(body, headers);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({
    ok: false,
    allowanceState: 'unknown',
    issues: [
      {
        requestIndex: -1,
        code: 'invalid_request',
        message: expect.stringMatching(/\S/),
        severity: 'error',
      },
    ],
  });
});

it('reports an address with an unpaired surrogate next to a valid recipient', async () => {
  const { validate, request } = createTestApp();
  const recipients = [{ recipientAddress: 'x\ud800', amount: '5' }, ...request.recipients];
  const answer = await validate({ ...request, recipients });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({
    ok: false,
    issues: [{ requestIndex: 0, code: 'invalid-address' }],
  });
});

it('reports a platform that does not answer, before bootstrap and after [validate.always-200]', async () => {
  const expected = {
    ok: false,
    issues: [],
    preflight: [{ code: 'platform_unreachable' }],
  };
  const early = createTestApp({ bootstrap: undefined });
  const first = await early.validate(early.request);
  expect(first.status).toBe(200);
  expect(await first.json()).toMatchObject({ ...expected, allowanceState: 'unknown' });

  const later = createTestApp();
  later.chain.allowance = 10n;
  later.platform.failCalls(1);
  const second = await later.validate(later.request);
  expect(second.status).toBe(200);
  expect(await second.json()).toMatchObject({ ...expected, allowanceState: 'sufficient' });
});

it('reports nothing to a caller without a valid credential, not even a malformed body [validate.bearer]', async () => {
  const { validate } = createTestApp();
  for (const [token, status] of [
    ['', 401],
    [apiKey('unknown'), 401],
    [apiKey('reader'), 403],
    [apiKey('foreign'), 403],
    [loopbackToken, 200],
    [apiKey('disburse'), 200],
  ] as const) {
    const answer = await validate('{', { authorization: `Bearer ${token}` });
    expect(answer.status).toBe(status);
  }
});
