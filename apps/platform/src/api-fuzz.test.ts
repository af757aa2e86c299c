/** Platform and edge answer every request as their OpenAPI documents describe. */

import { type Capability, createOpenApi, edgeApi, platformApi, platformRoutes } from '@pool/api';
import { assertField, createSignInMessage, Secret } from '@pool/core';
import { createRouteCaller } from '@pool/platform-client';
import { createTestHolder, type TestHolder, testEvidenceDomain } from '@pool/testkit';
import { fuzzApi, isOfDescription } from '@pool/testkit/api-fuzz';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../packages/database/test/test-database.ts';
import type { PoolChain } from '../../../packages/relayer/src/chain/pool-chain.ts';
import { batchIdOf } from '../../../packages/relayer/src/store/settlement-store.ts';
import { createSettingsOnlyChain } from '../../../packages/relayer/test/settings-only-chain.ts';
import { testSettings } from '../../../packages/relayer/test/test-settings.ts';
import { createTestSettlement } from '../../../packages/relayer/test/test-settlement.ts';
import { createTestSpend } from '../../../packages/relayer/test/test-spend.ts';
import { revokeCredential } from './accounts/credentials.ts';
import {
  createFakeGate,
  createTestPlatform,
  emptyList,
  type TestPlatform,
  testMetricsToken,
} from './fixtures/test-platform.ts';

const [platformDocument, edgeDocument] = [createOpenApi(platformApi), createOpenApi(edgeApi)];
const maxBodyBytes = 512 * 1024;
const unlimited = 1_000_000;

/** Its settings, and a pool that accepts every withdrawal. */
const fakeChain: PoolChain = {
  ...createSettingsOnlyChain(testSettings, 'valid'),
  simulate: () => Promise.resolve(undefined),
};

type Progress = 'signed in' | 'registered' | 'enrolled';

describe('the platform and its documents', () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let a: TestHolder;
  let b: TestHolder;

  beforeAll(async () => {
    database = await openTestDatabase();
    a = await createTestHolder('a');
    b = await createTestHolder('b');
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    platform = startPlatform(unlimited);
  });

  /** @param perSecond - requests of one address, session or agent */
  function startPlatform(perSecond: number): TestPlatform {
    return createTestPlatform(database, {
      gate: createFakeGate(() => Promise.resolve({ status: 'whitelisted' })),
      gateReads: emptyList,
      makesNotePaths: true,
      poolChains: new Map([['anvil', fakeChain]]),
      rateLimits: {
        addressPerSecond: perSecond,
        sessionPerSecond: perSecond,
        edgePerSecond: perSecond,
      },
    });
  }

  const send = async (path: string, init: RequestInit) =>
    await platform.app.request(`http://127.0.0.1${path}`, init);

  /** The session cookie of a holder who signed in and has made this progress. */
  async function openSession(progress: Progress = 'enrolled'): Promise<string> {
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
    if (progress === 'signed in') {
      return cookie;
    }
    const { walletPub, encryptionPublicKey } = a;
    expect(await call(platformRoutes.register, { body: {} })).toMatchObject({ status: 200 });
    if (progress === 'registered') {
      return cookie;
    }
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

  it('describes every existing route', () => {
    const there = platform.app.routes
      .filter(({ method, path }) => method !== 'ALL' && !isOfDescription(path))
      .map(({ method, path }) => `${method} ${path}`);
    const described = [...platformApi.routes, ...edgeApi.routes].map(
      ({ method, path }) => `${method} ${path.replace(/\{([^}]+)\}/g, ':$1')}`,
    );
    expect([...new Set(there)].sort()).toEqual([...described].sort());
  });

  /** Drives every operation of the platform; those of `keepOut` and the end of the session go without the cookie. */
  async function fuzzPlatform(
    cookie: string,
    options: { runs: number; keepOut?: readonly string[]; made?: Record<string, string[]> },
  ) {
    const { runs, keepOut = [], made = {} } = options;
    // Of another employer: making the token makes the account.
    const edge = await platform.edgeToken(b.address);
    return await fuzzApi({
      document: platformDocument,
      send: async (path, init) =>
        await send(
          path,
          ['/api/auth/logout', ...keepOut].includes(path)
            ? { ...init, headers: withoutCookie(init) }
            : init,
        ),
      credentials: {
        session: { cookie },
        edgeToken: { authorization: `Bearer ${edge.token.reveal()}` },
        metricsToken: { authorization: `Bearer ${testMetricsToken}` },
      },
      known: {
        walletPub: [a.walletPub],
        encryptionPublicKey: [a.encryptionPublicKey],
        currentEncryptionPublicKey: [a.encryptionPublicKey],
        ...made,
        references: [['fuzzed-reference']],
        reference: ['fuzzed-reference'],
        id: ['1', '2', '3'],
        addresses: [[a.address], [a.address, b.address]],
        address: [a.address, b.address],
      },
      bodies: {
        onboard: [{ walletPub: a.walletPub, encryptionPublicKey: a.encryptionPublicKey }],
        rotateEncryptionKey: [
          {
            walletPub: a.walletPub,
            currentEncryptionPublicKey: a.encryptionPublicKey,
            encryptionPublicKey: b.encryptionPublicKey,
          },
        ],
        verifySession: [await a.evidence()],
      },
      secrets: [cookie.replace('sessionId=', ''), edge.token.reveal()],
      maxBodyBytes,
      runs,
    });
  }

  it('answers every request to the platform as documented', { timeout: 60_000 }, async () => {
    const cookie = await openSession();
    const { apiKey } = await createKey(cookie, 'disburse');
    // An employer with an edge token may invite.
    await platform.edgeToken(a.address);
    const link = await callerOf(cookie)(platformRoutes.createInvitationLinks, {
      body: { references: ['own-reference'] },
    });
    const codes = link.status === 201 ? link.body.links.map(({ code }) => code) : [];
    const seen = await fuzzPlatform(cookie, { runs: 80, made: { apiKey: [apiKey], code: codes } });
    for (const [id, statuses] of seen) {
      const isReached = id === 'verifySession' || [...statuses].some((status) => status < 300);
      expect([id, isReached], seen.note).toEqual([id, true]);
      expect([id, statuses.has(403)], seen.note).toEqual([id, true]);
    }
    expect(seen.get('verifySession'), seen.note).toContain(401);
  });

  const register = '/api/employers/register';
  const onboard = '/api/employers/holder/onboard';
  it.each<[Progress | 'ended', readonly string[], Record<string, number>]>([
    [
      'signed in',
      [register],
      {
        onboard: 409,
        rotateEncryptionKey: 409,
        mintKey: 409,
        listKeys: 409,
        revokeKey: 409,
        invite: 409,
        listInvitations: 409,
      },
    ],
    [
      'registered',
      [onboard],
      { rotateEncryptionKey: 409, getEnrollment: 200, mintKey: 201, invite: 403 },
    ],
    ['ended', [], { register: 401, onboard: 401, getEnrollment: 401, mintKey: 401, listKeys: 401 }],
  ])(
    'answers every request of a session that is %s as documented',
    async (progress, keepOut, expected) => {
      const cookie = await openSession(progress === 'ended' ? 'enrolled' : progress);
      if (progress === 'ended') {
        await send('/api/auth/logout', { method: 'POST', headers: { cookie } });
      }
      const seen = await fuzzPlatform(cookie, { runs: 40, keepOut });
      for (const [id, status] of Object.entries(expected)) {
        expect([id, [...(seen.get(id) ?? [])]], seen.note).toEqual([
          id,
          expect.arrayContaining([status]),
        ]);
      }
      const ids = Object.keys(expected).filter((id) => (expected[id] ?? 0) >= 400);
      for (const id of ids) {
        expect([id, [...(seen.get(id) ?? [])].filter((status) => status < 400)], seen.note).toEqual(
          [id, []],
        );
      }
    },
  );

  it('answers requests over a limit as documented', async () => {
    const cookie = await openSession();
    platform = startPlatform(1);
    const seen = await fuzzPlatform(cookie, { runs: 30 });
    for (const [id, statuses] of seen) {
      const isUnlimited = id === 'livez' || id === 'readyz' || id === 'metrics';
      expect([id, statuses.has(429)], seen.note).toEqual([id, !isUnlimited]);
    }
  });

  it('answers every request to the edge as documented', { timeout: 60_000 }, async () => {
    const cookie = await openSession();
    const edge = await platform.edgeToken(a.address);
    const { apiKey } = await createKey(cookie, 'holder.read');
    const funder = new Wallet(`0x${'11'.repeat(32)}`);
    const token = testSettings.tokens['USDC']?.address ?? '';
    const target = { settings: testSettings, token, funder, timestamp: 1_800_000_000 };
    const { request } = await createTestSettlement(target, { eligibilityRoot: assertField(5n) });
    // First of all under a known key: a batch belongs to the key it came with first, and the fuzzer makes up keys too.
    const posted = await send('/agent-edge/settlements', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${edge.token.reveal()}`,
        'content-type': 'application/json',
        'idempotency-key': 'job-1',
      },
      body: JSON.stringify(request),
    });
    expect(posted.status).toBe(202);
    const withdrawal = {
      chain: 'anvil',
      funder: request.batch.funder,
      batchNonce: request.batch.batchNonce,
      signature: request.funderSignature,
    };
    // The chain has it, so its notes can be delivered again.
    await database.db
      .insertInto('batches')
      .values({
        chain: 'anvil',
        leaf_index: 0,
        batch_root: request.batch.batchRoot,
        batch_id: batchIdOf(request.batch),
        sealed_notes_hash: request.batch.sealedNotesHash,
        new_root: request.batch.batchRoot,
        commitments: JSON.stringify(request.batch.commitments),
        tx_hash: `0x${'7'.repeat(64)}`,
        block_number: 1,
        submission_id: null,
      })
      .execute();
    const { chain, batch, sealedNotes } = request;
    const keys = ['job-1', '"job-1"', 'job-2'];
    const { apiKey: transferKey } = await createKey(cookie, 'holder.transfer');
    const { request: spend } = await createTestSpend({ ...testSettings, token }, a, {
      noteRoot: assertField(7n),
      deadline: 1_800_000_000,
    });
    await send('/agent-edge/spends', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${transferKey}`,
        'content-type': 'application/json',
        'idempotency-key': 'job-1',
      },
      body: JSON.stringify(spend),
    });
    const seen = await fuzzApi({
      document: edgeDocument,
      // One scheme, and no key reaches both notes and spends.
      send: async (path, init) =>
        await send(
          path,
          /edge\/(spends|eligib)/.test(path) ? withBearer(init, apiKey, transferKey) : init,
        ),
      credentials: {
        edgeToken: { authorization: `Bearer ${edge.token.reveal()}` },
        holderKey: { authorization: `Bearer ${apiKey}` },
      },
      known: {
        chain: ['anvil', 'nowhere'],
        pool: [testSettings.pool],
        token: ['USDC', 'NONE'],
        cursor: ['0.0.0', '1.2.0'],
        from: ['0', '1'],
        addresses: [[a.address], ['GABC', a.address]],
        key: ['job-1', 'job-2', 'never'],
        'Idempotency-Key': keys,
      },
      bodies: {
        postSettlement: [request],
        postVoid: [withdrawal],
        redeliverNotes: [{ chain, batch, sealedNotes }],
        postSpend: [spend],
        findNotePaths: [{ chain: 'anvil', notes: [{ batchIndex: 0, slot: 3 }] }],
        findEligibilityPaths: [{ chain, walletIds: [batch.batchRoot], root: batch.batchRoot }],
      },
      secrets: [edge.token.reveal(), apiKey, transferKey],
      maxBodyBytes,
      runs: 80,
    });
    for (const [id, statuses] of seen) {
      expect([id, [...statuses].some((status) => status < 300)], seen.note).toEqual([id, true]);
      expect([id, statuses.has(403)], seen.note).toEqual([id, true]);
    }
  });

  it('answers requests to the edge with credentials of other routes as documented', async () => {
    const cookie = await openSession();
    const edge = await platform.edgeToken(a.address);
    const { apiKey } = await createKey(cookie, 'disburse');
    await revokeCredential(database.db, 'edge token', edge.id, platform.clock.nowMs);
    const seen = await fuzzApi({
      document: edgeDocument,
      send,
      credentials: {
        edgeToken: { authorization: `Bearer ${edge.token.reveal()}` },
        holderKey: { authorization: `Bearer ${apiKey}` },
      },
      known: { chain: ['anvil'], token: ['USDC'], key: ['job-1'] },
      bodies: {},
      secrets: [edge.token.reveal(), apiKey],
      maxBodyBytes,
      runs: 25,
    });
    const ofKeys = /^(getNotes|getBatches|findNotePaths|findEligibilityPaths|postSpend|getSpend)$/;
    for (const [id, statuses] of seen) {
      const refusal = ofKeys.test(id) ? 403 : 401;
      expect([id, statuses.has(refusal)], seen.note).toEqual([id, true]);
      expect(
        [id, [...statuses].filter((status) => ![401, 403, 413].includes(status))],
        seen.note,
      ).toEqual([id, []]);
    }
  });

  it('serves every call of the typed client', async () => {
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

  async function createKey(cookie: string, capability: Capability) {
    const minted = await callerOf(cookie)(platformRoutes.mintKey, {
      body: { capability, name: 'typed' },
    });
    if (minted.status !== 201) {
      throw new Error(`no key: ${minted.body.code}`);
    }
    return minted.body;
  }
});

/** The request with another credential where it carries the first. */
function withBearer(init: RequestInit, from: string, to: string): RequestInit {
  const headers = new Headers(init.headers);
  if (headers.get('authorization') === `Bearer ${from}`) {
    headers.set('authorization', `Bearer ${to}`);
  }
  return { ...init, headers };
}

function withoutCookie(init: RequestInit): Headers {
  const headers = new Headers(init.headers);
  headers.delete('cookie');
  return headers;
}
