/** The agent compared with its own document: it answers every request as documented. */
import { agentApi, agentRoutes, createOpenApi } from '@pool/api';
import { Secret } from '@pool/core';
import { serveHttp } from '@pool/http-server';
import { createRouteCaller } from '@pool/platform-client';
import { fuzzApi, isOfDescription } from '@pool/testkit/api-fuzz';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  apiKey,
  createTestApp,
  employerId,
  loopbackToken,
  metricsToken,
  pool,
} from '../fixtures/test-app.ts';

type TestApp = ReturnType<typeof createTestApp>;

const agentDocument = createOpenApi(agentApi);

const notDescribed = new Set([
  // For this agent's own commands, which send no credential to it.
  'GET /api/port-proof',
  // For this agent's own command line, with the loopback token only.
  'GET /api/disburse/:key/trace',
  // For this agent's own command line, with DISBURSE_BALANCE_TOKEN.
  'GET /api/balance/arrivals',
  'GET /api/balance/progress',
  'POST /api/balance/rescan',
  'POST /api/transfer/sweep',
  // For this agent's own command line, with the key of the role.
  'GET /api/transfer/progress',
  'GET /api/send/progress',
]);

describe('the agent and its document', () => {
  it('serves the document and its page without a credential', async () => {
    const { app } = createTestApp();
    const headers = { host: '127.0.0.1:8787' };
    const document = await app.request('http://127.0.0.1/openapi.json', { headers });
    expect(await document.json()).toEqual(createOpenApi(agentApi));
    const page = await app.request('http://127.0.0.1/docs', { headers });
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
    expect(await page.text()).toContain('<title>Pool disbursement agent</title>');
    const text = await app.request('http://127.0.0.1/docs.md', { headers });
    expect(await text.text()).toContain('### POST /api/disburse');
  });

  it('describes every route', () => {
    const { app } = createTestApp();
    const there = app.routes
      .filter(({ method }) => method !== 'ALL')
      .filter(({ path }) => !isOfDescription(path))
      .map(({ method, path }) => `${method} ${path}`)
      .filter((route) => !notDescribed.has(route));
    const described = agentApi.routes.map(
      ({ method, path }) => `${method} ${path.replace(/\{([^}]+)\}/g, ':$1')}`,
    );
    expect([...new Set(there)].sort()).toEqual([...described].sort());
  });

  /** Drives every operation with one credential. @returns the statuses, and the app */
  async function fuzzWith(
    credential: string,
    runs: number,
    change?: (test: TestApp) => void,
    {
      holderKey = apiKey('reader'),
      transferKey = apiKey('transfer'),
      sendKey = apiKey('send'),
    } = {},
  ) {
    const test = createTestApp();
    change?.(test);
    const { app, request, clock, holders } = test;
    const key = 'fuzz-1';
    const seen = await fuzzApi({
      document: agentDocument,
      send: async (path, init) => {
        // Time passes between requests, so that limits refill.
        clock.advanceSeconds(1);
        return await app.request(`http://127.0.0.1${path}`, init);
      },
      credentials: {
        agentCredential: { authorization: `Bearer ${credential}` },
        holderKey: { authorization: `Bearer ${holderKey}` },
        transferKey: { authorization: `Bearer ${transferKey}` },
        sendKey: { authorization: `Bearer ${sendKey}` },
        metricsCredential: { authorization: `Bearer ${metricsToken}` },
      },
      known: {
        walletPub: holders.map(({ walletPub }) => walletPub),
        from: ['2026-01-01T00:00:00Z'],
        to: ['bank', pool, '2030-01-01T00:00:00Z'],
        after: ['0', '0.1'],
        token: ['USDC', 'USDX'],
        chain: ['anvil'],
        amount: ['1', '0'],
        recipientAddress: holders.map(({ address }) => address),
        key: [key, 'never'],
        'idempotency-key': [key, `"${key}"`, 'fuzz-2', 'fuzz-3'],
        'Idempotency-Key': [key, `"${key}"`, 'fuzz-2', 'fuzz-3'],
      },
      bodies: {
        disburse: [request],
        validate: [request],
        transfer: [
          {
            token: 'USDC',
            recipients: holders.map(({ walletPub }) => ({ walletPub, amount: '5' })),
          },
        ],
        send: [{ token: 'USDC', amount: '5', to: 'bank', dryRun: true }],
      },
      secrets: [credential, holderKey, transferKey, sendKey, metricsToken],
      maxBodyBytes: 4 * 1024 * 1024,
      runs,
    });
    return { seen, test };
  }

  it.each([
    ['the loopback token', loopbackToken],
    ['an API key', apiKey('disburse')],
  ])(
    'answers any request with %s as documented [transfer.body, send.body]',
    { timeout: 60_000 },
    async (_, credential) => {
      const { seen, test } = await fuzzWith(credential, 300);
      expect(seen.get('disburse'), seen.note).toContain(202);
      expect(seen.get('disburse'), seen.note).toContain(409);
      expect(seen.get('disburse'), seen.note).toContain(413);
      expect(seen.get('getDisbursement'), seen.note).toContain(200);
      expect(seen.get('cancelDisbursement'), seen.note).toContain(404);
      for (const [id, statuses] of seen) {
        expect([id, [...statuses].some((status) => status < 300)], seen.note).toEqual([id, true]);
        expect([id, statuses.has(403)], seen.note).toEqual([id, true]);
      }
      expect(test.state.verifiedKeys.has(credential)).toBe(credential !== loopbackToken);
      expect(seen.get('balance'), seen.note).toContain(400);
      for (const id of ['transfer', 'send']) {
        expect([id, ...(seen.get(id) ?? [])], seen.note).toEqual(
          expect.arrayContaining([id, 200, 400, 401, 413]),
        );
      }
      // The routes accept no chain, however it is sent.
      expect(test.state.spends.filter(({ chain }) => chain !== undefined)).toEqual([]);
      expect(seen.get('history'), seen.note).toContain(400);
      expect(test.state.histories.length).toBeGreaterThan(0);
      expect(new Set(test.state.balances)).toEqual(new Set(['USDC']));
    },
  );

  it.each<[string, string, number, ((test: TestApp) => void)?]>([
    ['a key of another capability', apiKey('reader'), 403],
    ['a key of another employer', apiKey('foreign'), 403],
    ['a revoked key', apiKey('second'), 401, ({ keys }) => keys.delete(apiKey('second'))],
    ['a key that was never minted', apiKey('nobody'), 401],
    [
      'a key while the platform is down',
      apiKey('disburse'),
      503,
      ({ state }) => {
        state.isPlatformDown = true;
      },
    ],
  ])('does nothing for %s, for any request', async (_, credential, refusal, change) => {
    const { seen, test } = await fuzzWith(credential, 100, change);
    for (const id of ['disburse', 'validate', 'getDisbursement', 'cancelDisbursement']) {
      const statuses = seen.get(id) ?? new Set();
      expect(statuses, seen.note).toContain(refusal);
      // 401: the header was left out or damaged. 403: a Host or Origin that is not served.
      expect(
        [id, [...statuses].filter((status) => ![401, 403, refusal].includes(status))],
        seen.note,
      ).toEqual([id, []]);
    }
    expect(test.state.verifications).toBeGreaterThan(0);
    expect(test.state.wakes).toBe(0);
    expect(test.platform.lookups).toBe(0);
    expect(await test.store.get(employerId, 'fuzz-1')).toBeUndefined();
  });

  it.each([
    ['the loopback token', loopbackToken, 403],
    ['a key that may pay', apiKey('disburse'), 403],
    ['a key that may transfer', apiKey('transfer'), 403],
    ['a holder.read key of another wallet', apiKey('stranger'), 403],
    ['a key that was never minted', apiKey('nobody'), 401],
  ])('reads no balance for %s, for any request', async (_, credential, refusal) => {
    const { seen, test } = await fuzzWith(apiKey('disburse'), 60, undefined, {
      holderKey: credential,
    });
    for (const id of ['balance', 'history']) {
      const statuses = seen.get(id) ?? new Set();
      expect(statuses, seen.note).toContain(refusal);
      expect(
        [...statuses].filter((status) => ![401, 403].includes(status)),
        seen.note,
      ).toEqual([]);
    }
    expect(test.state.balances).toEqual([]);
    expect(test.state.histories).toEqual([]);
  });

  it.each([
    ['the loopback token', loopbackToken, 403],
    ['a key that may pay', apiKey('disburse'), 403],
    ['a key that may read', apiKey('reader'), 403],
    ['a key of another wallet', apiKey('stranger'), 403],
    ['a key that was never minted', apiKey('nobody'), 401],
    ['the key of the other role', undefined, 403],
  ])(
    'spends nothing for %s, for any request [capability.transfer-not-send]',
    async (_, credential, refusal) => {
      const { seen, test } = await fuzzWith(apiKey('disburse'), 60, undefined, {
        transferKey: credential ?? apiKey('send'),
        sendKey: credential ?? apiKey('transfer'),
      });
      for (const id of ['transfer', 'send']) {
        const statuses = seen.get(id) ?? new Set();
        expect(statuses, seen.note).toContain(refusal);
        expect(
          [...statuses].filter((status) => ![401, 403].includes(status)),
          seen.note,
        ).toEqual([]);
      }
      expect(test.state.spends).toEqual([]);
    },
  );

  it('answers requests above the limit as documented', async () => {
    const { app } = createTestApp({ rateLimit: 1 });
    const seen = await fuzzApi({
      document: agentDocument,
      send: async (path, init) => await app.request(`http://127.0.0.1${path}`, init),
      credentials: {
        agentCredential: { authorization: `Bearer ${loopbackToken}` },
        holderKey: { authorization: `Bearer ${apiKey('reader')}` },
        transferKey: { authorization: `Bearer ${apiKey('transfer')}` },
        sendKey: { authorization: `Bearer ${apiKey('send')}` },
        metricsCredential: { authorization: `Bearer ${metricsToken}` },
      },
      known: {},
      bodies: {},
      secrets: [loopbackToken],
      maxBodyBytes: 4 * 1024 * 1024,
      runs: 30,
    });
    for (const { id } of agentApi.routes.filter(({ errors }) => 429 in errors)) {
      expect([id, seen.get(id)?.has(429)], seen.note).toEqual([id, true]);
    }
  });

  it('is called by the typed client over a socket', async () => {
    const { app, request: body } = createTestApp();
    const server = await serveHttp((request) => app.fetch(request), {
      host: '127.0.0.1',
      port: 0,
      onRefused: () => undefined,
    });
    onTestFinished(() => server.close());
    const call = createRouteCaller({
      url: server.url,
      service: 'agent',
      bearer: new Secret(apiKey('disburse')),
    });
    const accepted = await call(agentRoutes.disburse, {
      headers: { 'idempotency-key': 'typed-1' },
      body,
    });
    expect(accepted).toMatchObject({ status: 202, body: { key: 'typed-1', state: 'accepted' } });
    const read = await call(agentRoutes.getDisbursement, { params: { key: 'typed-1' } });
    if (read.status !== 200) {
      throw new Error(`refused: ${read.body.code}`);
    }
    // Typed as the job: `state` is one of four words.
    const state: 'accepted' | 'submitted' | 'done' | 'failed' = read.body.state;
    expect(state).toBe('accepted');
    expect(await call(agentRoutes.getDisbursement, { params: { key: 'nope' } })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
  });

  it('makes the typed client refuse an answer that is not documented', async () => {
    const answer = (status: number, body: unknown) =>
      createRouteCaller({
        url: 'http://127.0.0.1:8787',
        service: 'agent',
        fetch: () => Promise.resolve(Response.json(body, { status })),
      })(agentRoutes.livez, {});
    const alive = { ok: true, version: '1', uptimeSeconds: 1 };
    expect(await answer(200, alive)).toEqual({ status: 200, body: alive });
    await expect(answer(200, { ...alive, extra: 1 })).rejects.toMatchObject({
      code: 'agent_invalid_response',
    });
    await expect(answer(418, alive)).rejects.toMatchObject({ code: 'agent_invalid_response' });
    await expect(answer(403, { code: 'odd', message: '' })).rejects.toMatchObject({
      code: 'agent_invalid_response',
    });
  });
});
