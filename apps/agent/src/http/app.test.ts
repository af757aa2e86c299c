// Routes, statuses and codes (README.md "HTTP", docs/decisions/0007), through app.request().
import type { SettlementRecord } from '@pool/api';
import { canonicalDigest, PoolError } from '@pool/core';
import { describe, expect, it } from 'vitest';
import {
  apiKey,
  bootstrap,
  createTestApp,
  employerId,
  loopbackToken,
  metricsToken,
  pool,
} from '../fixtures/test-app.ts';

function bearer(token: string) {
  return { authorization: `Bearer ${token}` };
}

describe('POST /api/disburse', () => {
  it('accepts a good request with 202 and wakes the worker [job.key, job.status-url, disburse.202]', async () => {
    const { post, request, state } = createTestApp();
    const answer = await post('june 2026', request);
    expect(answer.status).toBe(202);
    expect(await answer.json()).toEqual({
      key: 'june 2026',
      state: 'accepted',
      statusUrl: '/api/disburse/june%202026',
    });
    expect(state.wakes).toBe(1);
  });

  it('answers the same key and body with the original job, without checking again [disburse.replay-same-body]', async () => {
    const test = createTestApp();
    await test.post('june', test.request);
    test.platform.failCalls(10);
    const again = await test.post('june', test.request);
    expect(again.status).toBe(202);
    expect(await again.json()).toMatchObject({ key: 'june', state: 'accepted' });
    expect(test.state.wakes).toBe(1);
  });

  it('treats fields in another order as the same body, and a quoted key as the same key [disburse.replay-same-body]', async () => {
    const { post, request } = createTestApp();
    await post('june', request);
    const reordered = { recipients: request.recipients, token: request.token };
    expect((await post('"june"', reordered)).status).toBe(202);
  });

  it('answers 200 once the job has ended [state.terminal, disburse.200-terminal]', async () => {
    const { post, request, store } = createTestApp();
    await post('june', request);
    const lease = await store.lease({ workerId: 'w', states: ['accepted'], ttlMs: 1, nowMs: 0 });
    const { job, fence } = lease!;
    const payload = JSON.stringify({
      ...JSON.parse(job.payload),
      phase: { kind: 'failed', error: { code: 'settlement_expired', message: 'm' } },
    });
    const { scope, key } = job;
    await store.update({ scope, key, fence, state: 'failed', payload, nowMs: 1 });
    const again = await post('june', request);
    expect(again.status).toBe(200);
    expect(await again.json()).toEqual({
      key: 'june',
      state: 'failed',
      error: { code: 'settlement_expired', message: 'm' },
      statusUrl: '/api/disburse/june',
    });
  });

  it('answers 409 to another body under the same key [disburse.replay-other-body, error.idempotency-conflict]', async () => {
    const { post, request } = createTestApp();
    await post('june', request);
    const answer = await post('june', { ...request, unregistered: 'skip' });
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ code: 'idempotency_conflict' });
  });

  it('creates one job for many requests at once [disburse.replay-same-body]', async () => {
    const { post, request, state } = createTestApp();
    const answers = await Promise.all(
      Array.from({ length: 10 }, async () => post('june', request)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 202));
    expect(state.wakes).toBe(1);
  });

  it.each([
    ['no key', undefined],
    ['an empty key', ' '],
    ['256 characters', 'k'.repeat(256)],
    ['a half-quoted key', '"june'],
    ['an empty quoted key', '""'],
  ])('refuses %s [disburse.idempotency-key]', async (_what, key) => {
    const { post, request } = createTestApp();
    const answer = await post(key, request);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: 'invalid_request' });
  });

  it('accepts a key of 255 characters, and finds its job', async () => {
    const { post, get, request } = createTestApp();
    const key = `%2F/?#"\\ é`.replace('é', '').padEnd(255, '~');
    const quoted = `"${key.replace(/(["\\])/g, '\\$1')}"`;
    expect((await post(quoted, request)).status).toBe(202);
    const { statusUrl } = (await (await post(quoted, request)).json()) as { statusUrl: string };
    const job = await get(statusUrl);
    expect(job.status).toBe(200);
    expect(await job.json()).toMatchObject({ key });
  });

  it.each([
    ['no JSON', '{', {}],
    ['an unpaired surrogate', '{"token":"\\ud800","recipients":[]}', {}],
    ['another content type', '{}', { 'content-type': 'text/plain' }],
    ['an unknown field', '{"token":"USDC","recipients":[],"x":1}', {}],
  ])('refuses %s without repeating it [disburse.json]', async (_what, body, headers) => {
    const { post } = createTestApp();
    const answer = await post('june', body, headers);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: 'invalid_request' });
  });

  it.each([
    ['text', 'text/plain'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['another JSON', 'application/jsonp'],
    ['nothing', ''],
  ])('accepts a good request as JSON only, not as %s [disburse.json]', async (_what, type) => {
    const { post, get, request } = createTestApp();
    const answer = await post('june', request, { 'content-type': type });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: 'invalid_request' });
    expect((await get('/api/disburse/june')).status).toBe(404);
    const charset = { 'content-type': 'application/json; charset=utf-8' };
    expect((await post('june', request, charset)).status).toBe(202);
  });

  it('makes a fresh attempt under a new key, and none under the key of a failed job [disburse.new-key-new-attempt]', async () => {
    const { post, request, store, state } = createTestApp();
    await post('june', request);
    const lease = await store.lease({
      workerId: 'w',
      scope: employerId,
      states: ['accepted'],
      ttlMs: 1,
      nowMs: 0,
    });
    const { scope, key, payload: accepted } = lease!.job;
    const error = { code: 'unregistered-recipient', message: 'm' };
    const payload = JSON.stringify({
      ...JSON.parse(accepted),
      phase: { kind: 'failed', error },
    });
    await store.update({ scope, key, fence: lease!.fence, state: 'failed', payload, nowMs: 1 });
    expect(await (await post('june', request)).json()).toMatchObject({ state: 'failed', error });
    expect(state.wakes).toBe(1);
    const fresh = await post('june again', request);
    expect(fresh.status).toBe(202);
    expect(await fresh.json()).toMatchObject({ key: 'june again', state: 'accepted' });
    expect(state.wakes).toBe(2);
  });

  it('refuses a body above 4 MiB with 413', async () => {
    const { post } = createTestApp();
    const answer = await post('june', `"${'x'.repeat(4 * 1024 * 1024)}"`);
    expect(answer.status).toBe(413);
  });

  it('names the ceiling of a batch that is too large, and keeps no job [error.batch-too-large, limit.recipients]', async () => {
    const { post, get, request } = createTestApp();
    const [one] = request.recipients;
    const answer = await post('june', { ...request, recipients: [one, one, one, one] });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      code: 'batch-too-large',
      message: expect.stringContaining('at most 3 recipients'),
    });
    expect((await get('/api/disburse/june')).status).toBe(404);
  });

  it('answers 503 before bootstrap, and while the platform does not answer look-ups', async () => {
    const early = createTestApp({ bootstrap: undefined });
    expect((await early.post('june', early.request)).status).toBe(503);
    const test = createTestApp();
    test.platform.failCalls(1);
    const answer = await test.post('june', test.request);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('5');
    expect((await test.post('june', test.request)).status).toBe(202);
  });

  it('refuses a chain whose pool, chain id, registry or token differs from that of the platform', async () => {
    const vended = bootstrap.chains['anvil']!;
    const other = '0x8464135c8f25da09e49bc8782676a84730c318bc';
    const lies = [
      { ...vended, pool: other },
      { ...vended, chainId: 1 },
      { ...vended, registry: other },
      { ...vended, tokens: { USDC: other } },
    ];
    for (const lie of lies) {
      const test = createTestApp({ bootstrap: { ...bootstrap, chains: { anvil: lie } } });
      const answer = await test.post('june', test.request);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({ code: 'invalid-chain' });
    }
    const same = { ...vended, pool: vended.pool.toLowerCase() };
    const test = createTestApp({ bootstrap: { ...bootstrap, chains: { anvil: same } } });
    expect((await test.post('june', test.request)).status).toBe(202);
  });
});

describe('GET /api/disburse/:key', () => {
  it('answers the job, and 404 for an unknown key [state.accepted, poll.job, poll.unknown, error.not-found]', async () => {
    const { post, get, request } = createTestApp();
    await post('june', request);
    expect(await (await get('/api/disburse/june')).json()).toEqual({
      key: 'june',
      state: 'accepted',
    });
    const unknown = await get('/api/disburse/july');
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ code: 'not_found' });
  });

  it('shows no job of another employer', async () => {
    const { get, store } = createTestApp();
    const foreign = { scope: 'another', key: 'june', fingerprint: 'f', state: 'accepted' };
    await store.claim({ ...foreign, payload: '{}', nowMs: 0 });
    expect((await get('/api/disburse/june')).status).toBe(404);
  });
});

describe('bearer', () => {
  const cases: [string, Record<string, string>, number, string | undefined][] = [
    ['nothing', { authorization: '' }, 401, 'unauthorized'],
    ['another scheme', { authorization: 'Basic abc' }, 401, 'unauthorized'],
    ['a wrong loopback token', bearer('cd'.repeat(32)), 401, 'unauthorized'],
    ['an unknown API key', bearer(apiKey('unknown')), 401, 'unauthorized'],
    ['a key of another capability', bearer(apiKey('reader')), 403, 'forbidden'],
    ['a key of another employer', bearer(apiKey('foreign')), 403, 'forbidden'],
    ['a disburse key', bearer(apiKey('disburse')), 404, 'not_found'],
    ['the loopback token', bearer(loopbackToken), 404, 'not_found'],
  ];
  it.each(cases)(
    '%s [disburse.bearer, poll.bearer, auth.agent-bearer, auth.api-key-or-loopback, error.bearer]',
    async (_what, headers, status, code) => {
      const { get, post, request } = createTestApp();
      const answer = await get('/api/disburse/june', headers);
      expect(answer.status).toBe(status);
      expect(await answer.json()).toMatchObject({ code });
      expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
      // The route that pays answers the same.
      const paid = await post('june', request, headers);
      expect(paid.status).toBe(status === 404 ? 202 : status);
      expect((await get('/api/disburse/june')).status).toBe(status === 404 ? 200 : 404);
    },
  );

  it('asks the platform at every request, and refuses every key when it does not answer [auth.verified-by-platform]', async () => {
    const { get, state } = createTestApp();
    await get('/api/disburse/june', bearer(apiKey('disburse')));
    await get('/api/disburse/june', bearer(apiKey('disburse')));
    expect(state.verifications).toBe(2);
    state.isPlatformDown = true;
    const answer = await get('/api/disburse/june', bearer(apiKey('disburse')));
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ code: 'verification_unavailable' });
  });

  it('keeps API keys from the trace', async () => {
    const { get, post, request } = createTestApp();
    await post('june', request);
    expect((await get('/api/disburse/june/trace', bearer(apiKey('disburse')))).status).toBe(403);
    expect(await (await get('/api/disburse/june/trace')).json()).toEqual({
      timings: [],
      prover: { kind: 'none', detail: 'test' },
    });
  });
});

describe('GET /metrics', () => {
  it.each([
    ['the metrics token', metricsToken],
    ['the loopback token', loopbackToken],
  ])('answers %s in the text format of Prometheus', async (_what, token) => {
    const { get } = createTestApp({ bootstrap: undefined });
    const answer = await get('/metrics', bearer(token));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await answer.text()).toBe('pool_prover_queued 0\n');
  });

  it('refuses every other credential without asking the platform', async () => {
    const { get, state } = createTestApp();
    for (const authorization of ['', 'Basic abc', `Bearer ${apiKey('disburse')}`, 'Bearer m']) {
      const answer = await get('/metrics', { authorization });
      expect(answer.status).toBe(401);
      expect(await answer.json()).toMatchObject({ code: 'unauthorized' });
    }
    expect(state.verifications).toBe(0);
    expect((await get('/metrics', { host: 'evil.test' })).status).toBe(403);
    expect((await get('/metrics', { origin: 'https://evil.test' })).status).toBe(403);
  });

  it('is the only route that the metrics token opens', async () => {
    const { get, post, request } = createTestApp();
    expect((await get('/api/disburse/june', bearer(metricsToken))).status).toBe(401);
    expect((await get('/api/disburse/june/trace', bearer(metricsToken))).status).toBe(401);
    expect((await post('june', request, bearer(metricsToken))).status).toBe(401);
  });
});

describe('every request', () => {
  it('can read livez without a credential [health.livez, auth.agent-bearer]', async () => {
    const { get } = createTestApp();
    const answer = await get('/api/livez', { authorization: '' });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ ok: true, version: '1.2.3', uptimeSeconds: 5 });
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    ['a foreign Host', { host: 'evil.test' }],
    ['a foreign Origin', { origin: 'https://evil.test' }],
    ['an opaque Origin', { origin: 'null' }],
  ])('is refused with %s', async (_what, headers) => {
    const { get } = createTestApp();
    const answer = await get('/api/livez', headers);
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ code: 'forbidden_host' });
  });

  it.each([
    ['localhost', { host: 'localhost:8787' }],
    ['IPv6 loopback', { host: '[::1]:8787' }],
    ['a listed name', { host: 'agent.example', origin: 'https://agent.example' }],
  ])('passes from %s', async (_what, headers) => {
    const { get } = createTestApp();
    expect((await get('/api/livez', headers)).status).toBe(200);
  });

  it('gets 404 as code and message for an unknown route', async () => {
    const { get } = createTestApp();
    const answer = await get('/api/nothing');
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: 'not_found' });
  });

  it('leaves no credential, recipient or amount in the log', async () => {
    const { post, get, request, logged, holders } = createTestApp();
    await post('canary-key', request);
    await get('/api/disburse/june', bearer(apiKey('unknown')));
    await post('other', { ...request, token: 'canary-token' });
    expect(logged.length).toBeGreaterThan(1);
    const text = logged.join('\n');
    for (const secret of [
      loopbackToken,
      'pool_live_',
      'canary',
      holders[0]!.address,
      employerId,
      pool,
    ]) {
      expect(text).not.toContain(secret);
    }
  });
});

it('accepts nothing while the platform names another employer, and still shows its jobs', async () => {
  const { post, get, request, state } = createTestApp();
  expect((await post('june', request)).status).toBe(202);
  state.refusal = new PoolError('employer_mismatch', 'the platform names another employer');
  for (const key of ['june', 'july']) {
    const answer = await post(key, request);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ code: 'employer_mismatch' });
  }
  expect((await get('/api/livez')).status).toBe(200);
  expect((await get('/api/disburse/june')).status).toBe(200);
  expect((await get('/api/disburse/july')).status).toBe(404);
  expect(state.wakes).toBe(1);
});

describe('a key that another agent of the employer has used', () => {
  async function useElsewhere(test: ReturnType<typeof createTestApp>, amount: string) {
    const [first, ...others] = test.request.recipients;
    const body = { ...test.request, recipients: [{ ...first!, amount }, ...others] };
    const row = { bodyFingerprint: test.fingerprints.compute('june', canonicalDigest(body)) };
    test.platform.rows.set('june', row as SettlementRecord);
  }

  it('is a conflict for another body, before anything is accepted [error.idempotency-conflict]', async () => {
    const test = createTestApp();
    await useElsewhere(test, '6');
    const answer = await test.post('june', test.request);
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ code: 'idempotency_conflict' });
    expect((await test.get('/api/disburse/june')).status).toBe(404);
    expect(test.state.wakes).toBe(0);
  });

  it('is accepted for the same body, and the job finds what was paid', async () => {
    const test = createTestApp();
    await useElsewhere(test, '5');
    expect((await test.post('june', test.request)).status).toBe(202);
  });

  it('is accepted while the platform does not answer, and the worker asks again before it proves', async () => {
    const test = createTestApp();
    await useElsewhere(test, '6');
    test.platform.getSettlement = async () => {
      throw new PoolError('platform_unreachable', 'down');
    };
    expect((await test.post('june', test.request)).status).toBe(202);
  });
});
