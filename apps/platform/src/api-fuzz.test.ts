/** Platform and edge against their documents: whatever is sent, they answer as the documents say. */
import {
  createOpenApi,
  createSignInMessage,
  edgeApi,
  platformApi,
  platformRoutes,
  Secret,
} from '@pool/core';
import { createRouteCaller } from '@pool/platform-client';
import { fuzzApi } from '@pool/testkit/api-fuzz';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PoolChain } from './chain/pool-chain.ts';
import { openTestDatabase, type TestDatabase } from './fixtures/test-database.ts';
import { createTestHolder, type TestHolder, testEvidenceDomain } from './fixtures/test-holder.ts';
import {
  createFakeGate,
  createTestPlatform,
  type TestPlatform,
  testSettings,
} from './fixtures/test-platform.ts';
import { createTestSettlement } from './fixtures/test-settlement.ts';

const maxBodyBytes = 512 * 1024;
const unlimited = 1_000_000;

describe('the platform and its documents', () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let a: TestHolder;

  beforeAll(async () => {
    database = await openTestDatabase();
    a = await createTestHolder('a');
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    platform = createTestPlatform(database, {
      gate: createFakeGate(() => Promise.resolve({ status: 'whitelisted' })),
      poolChains: new Map([['anvil', { key: 'anvil', settings: testSettings } as PoolChain]]),
      rateLimits: {
        addressPerSecond: unlimited,
        sessionPerSecond: unlimited,
        edgePerSecond: unlimited,
      },
    });
  });

  const send = async (path: string, init: RequestInit) =>
    await platform.app.request(`http://127.0.0.1${path}`, init);

  /** The session cookie of a holder who signed in. */
  async function openSession(): Promise<string> {
    const nonce = await callerOf('')(platformRoutes.createNonce, {});
    if (nonce.status !== 200) {
      throw new Error('no nonce');
    }
    const message = createSignInMessage({
      ...testEvidenceDomain,
      address: a.address,
      statement: 'Sign in.',
      chainId: testSettings.chainId,
      nonce: nonce.body.nonce,
      issuedAtMs: platform.clock.nowMs,
      expirationTimeMs: Date.parse(nonce.body.expiresAt),
      encryptionPublicKey: a.encryptionPublicKey,
    });
    const signature = await a.wallet.signMessage(message);
    const response = await send('/api/auth/verify', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ message, signature }),
    });
    const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const call = callerOf(cookie);
    const { walletPub, encryptionPublicKey } = a;
    expect(await call(platformRoutes.register, { body: {} })).toMatchObject({ status: 200 });
    const enrolled = await call(platformRoutes.onboard, {
      body: { walletPub, encryptionPublicKey },
    });
    expect(enrolled).toMatchObject({ status: 200, body: { readiness: 'ready' } });
    return cookie;
  }

  it.each([
    ['', platformApi],
    ['/agent-edge', edgeApi],
  ])('serves a document and a page under %s/', async (prefix, api) => {
    const document = await send(`${prefix}/openapi.json`, {});
    expect(await document.json()).toEqual(createOpenApi(api));
    const page = await send(`${prefix}/docs`, {});
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
    expect(await page.text()).toContain(api.title);
  });

  it('describes every route there is', () => {
    const there = platform.app.routes
      .filter(({ method, path }) => method !== 'ALL' && !/\/(?:openapi\.json|docs)$/.test(path))
      .map(({ method, path }) => `${method} ${path}`);
    const described = [...platformApi.routes, ...edgeApi.routes].map(
      ({ method, path }) => `${method} ${path.replace(/\{([^}]+)\}/g, ':$1')}`,
    );
    expect([...new Set(there)].sort()).toEqual([...described].sort());
  });

  it('answers whatever is sent to the platform as documented', { timeout: 60_000 }, async () => {
    const cookie = await openSession();
    const edge = await platform.edgeToken(a.address);
    const { apiKey } = await createKey(cookie, 'disburse');
    const seen = await fuzzApi({
      document: createOpenApi(platformApi),
      // Logging out would end every later operation, so it goes with a cookie of nobody.
      send: async (path, init) =>
        await send(
          path,
          path === '/api/auth/logout' ? { ...init, headers: withoutCookie(init) } : init,
        ),
      credentials: {
        session: { cookie },
        edgeToken: { authorization: `Bearer ${edge.token.reveal()}` },
      },
      known: {
        walletPub: [a.walletPub],
        encryptionPublicKey: [a.encryptionPublicKey],
        currentEncryptionPublicKey: [a.encryptionPublicKey],
        apiKey: [apiKey],
        id: ['1', '2', '3'],
      },
      bodies: {
        onboard: [{ walletPub: a.walletPub, encryptionPublicKey: a.encryptionPublicKey }],
        verifySession: [await a.evidence()],
      },
      secrets: [cookie.replace('sessionId=', ''), edge.token.reveal()],
      maxBodyBytes,
      runs: 80,
    });
    for (const [id, statuses] of seen) {
      const isReached = id === 'verifySession' || [...statuses].some((status) => status < 300);
      expect([id, isReached]).toEqual([id, true]);
      expect([id, statuses.has(403)]).toEqual([id, true]);
    }
    expect(seen.get('verifySession')).toContain(401);
  });

  it('answers whatever is sent to the edge as documented', { timeout: 60_000 }, async () => {
    const cookie = await openSession();
    const edge = await platform.edgeToken(a.address);
    const { apiKey } = await createKey(cookie, 'holder.read');
    const funder = new Wallet(`0x${'11'.repeat(32)}`);
    const token = testSettings.tokens['USDC']?.address ?? '';
    const target = { settings: testSettings, token, funder, timestamp: 1_800_000_000 };
    const { request } = await createTestSettlement(target, { eligibilityRoot: 5n });
    const keys = ['job-1', '"job-1"', 'job-2'];
    const seen = await fuzzApi({
      document: createOpenApi(edgeApi),
      send,
      credentials: {
        edgeToken: { authorization: `Bearer ${edge.token.reveal()}` },
        holderKey: { authorization: `Bearer ${apiKey}` },
      },
      known: {
        chain: ['anvil', 'nowhere'],
        token: ['USDC', 'NONE'],
        cursor: ['0.0', '1.2'],
        addresses: [[a.address], ['GABC', a.address]],
        key: ['job-1', 'job-2', 'never'],
        'Idempotency-Key': keys,
      },
      bodies: { postSettlement: [request] },
      secrets: [edge.token.reveal(), apiKey],
      maxBodyBytes,
      runs: 80,
    });
    for (const [id, statuses] of seen) {
      expect([id, [...statuses].some((status) => status < 300)]).toEqual([id, true]);
      expect([id, statuses.has(403)]).toEqual([id, true]);
    }
  });

  it('is called by the typed client', async () => {
    const cookie = await openSession();
    const { apiKey } = await createKey(cookie, 'disburse');
    expect(apiKey).toMatch(/^pool_live_/);
    const call = callerOf(cookie);
    const listed = await call(platformRoutes.listKeys, {});
    expect(listed).toMatchObject({ status: 200, body: { keys: [{ id: 1, name: 'typed' }] } });
    const revoked = await call(platformRoutes.revokeKey, { params: { id: '1' } });
    expect(revoked).toEqual({ status: 200, body: { success: true } });
    expect(await call(platformRoutes.revokeKey, { params: { id: '9' } })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
  });

  function callerOf(cookie: string) {
    return createRouteCaller({
      url: 'http://127.0.0.1',
      service: 'platform',
      ...(cookie === '' ? {} : { session: new Secret(cookie.replace('sessionId=', '')) }),
      fetch: platform.fetch,
    });
  }

  async function createKey(cookie: string, capability: 'disburse' | 'holder.read') {
    const minted = await callerOf(cookie)(platformRoutes.mintKey, {
      body: { capability, name: 'typed' },
    });
    if (minted.status !== 201) {
      throw new Error(`no key: ${minted.body.code}`);
    }
    return minted.body;
  }
});

function withoutCookie(init: RequestInit): Headers {
  const headers = new Headers(init.headers);
  headers.delete('cookie');
  return headers;
}
