// Edge tokens that an employer makes with its own session: who may, how many, and what such a token does not allow (decision 6).
import type { Secret } from '@pool/core';
import type { SessionClient } from '@pool/platform-client';
import { createTestHolder, type TestHolder } from '@pool/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import {
  createFakeGate,
  createTestPlatform,
  type TestPlatform,
} from '../fixtures/test-platform.ts';
import { revokeCredential } from './credentials.ts';

describe('edge tokens of a session', () => {
  let database: TestDatabase;
  let a: TestHolder;
  let b: TestHolder;
  beforeAll(async () => {
    database = await openTestDatabase();
    [a, b] = [await createTestHolder('a'), await createTestHolder('b')];
  });
  afterAll(() => database.close());
  beforeEach(() => database.reset());

  const start = (invitations: 'off' | 'required' | 'screened' = 'off'): TestPlatform =>
    createTestPlatform(database, {
      gate: createFakeGate(() => Promise.resolve({ status: 'whitelisted' })),
      admission: { invitations },
    });

  async function registered(platform: TestPlatform, holder: TestHolder): Promise<SessionClient> {
    const session = await platform.signIn(holder);
    await session.register();
    return session;
  }

  async function bootstrap(platform: TestPlatform, token: Secret) {
    const response = await platform.app.request('/agent-edge/bootstrap', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token.reveal()}`,
        'content-type': 'application/json',
      },
      body: '{}',
    });
    return {
      status: response.status,
      body: (await response.json()) as Readonly<Record<string, unknown>>,
    };
  }

  it('opens the edge for its own employer, is shown once, and is stored as a hash', async () => {
    const platform = start();
    const session = await registered(platform, a);
    const { employerId } = await session.register();
    const made = await session.mintEdgeToken('payroll server');
    expect(made).toMatchObject({
      success: true,
      employerId,
      name: 'payroll server',
      issuedBy: 'session',
      createdAt: new Date(platform.clock.nowMs).toISOString(),
    });
    expect(made.token.reveal()).toMatch(/^pool_edge_/);
    expect(made.token.reveal().startsWith(made.tokenPrefix)).toBe(true);
    expect(await bootstrap(platform, made.token)).toMatchObject({
      status: 200,
      body: { employerId },
    });
    const listed = await session.listEdgeTokens();
    expect(listed).toMatchObject([{ id: made.id, tokenPrefix: made.tokenPrefix }]);
    expect(listed[0]).not.toHaveProperty('token');
    const stored = JSON.stringify(
      await database.db.selectFrom('credentials').selectAll().execute(),
    );
    expect(stored).not.toContain(made.token.reveal());
  });

  it('is good until its own employer revokes it, and another employer cannot', async () => {
    const platform = start();
    const session = await registered(platform, a);
    const { id, token } = await session.mintEdgeToken('one');
    const foreign = await registered(platform, b);
    await expect(foreign.revokeEdgeToken(id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await foreign.listEdgeTokens()).toEqual([]);
    expect((await bootstrap(platform, token)).status).toBe(200);
    await session.revokeEdgeToken(id);
    expect((await bootstrap(platform, token)).status).toBe(401);
    expect(await session.listEdgeTokens()).toMatchObject([
      { id, revokedAt: new Date(platform.clock.nowMs).toISOString() },
    ]);
  });

  it('has at most 10 that are live, also of 12 that are asked for at once', async () => {
    const platform = start();
    const session = await registered(platform, a);
    const names = Array.from({ length: 12 }, (_, index) => `agent ${index}`);
    const outcomes = await Promise.allSettled(names.map((name) => session.mintEdgeToken(name)));
    const made = outcomes.flatMap((outcome) =>
      outcome.status === 'fulfilled' ? [outcome.value] : [],
    );
    expect(made).toHaveLength(10);
    await expect(session.mintEdgeToken('more')).rejects.toMatchObject({
      code: 'key_limit_reached',
      status: 409,
    });
    await session.revokeEdgeToken(made[0]?.id ?? 0);
    expect(await session.mintEdgeToken('again')).toMatchObject({ name: 'again' });
  });

  it.each(['required', 'screened'] as const)(
    'is refused to a wallet that is not enrolled where invitations are %s',
    async (invitations) => {
      const platform = start(invitations);
      const session = await registered(platform, a);
      await expect(session.mintEdgeToken('x')).rejects.toMatchObject({
        code: 'edge_token_not_allowed',
        status: 403,
      });
      expect(await session.listEdgeTokens()).toEqual([]);
    },
  );

  it('is given to an enrolled wallet, and refused again once the operator has removed it', async () => {
    const platform = start('screened');
    const session = await registered(platform, a);
    await session.onboard(a.walletPub, a.encryptionPublicKey);
    expect(await session.mintEdgeToken('x')).toMatchObject({ issuedBy: 'session' });
    await database.db.updateTable('subjects').set({ admitted_at: null }).execute();
    await expect(session.mintEdgeToken('y')).rejects.toMatchObject({
      code: 'edge_token_not_allowed',
    });
  });

  it.each(['required', 'screened'] as const)(
    'reaches the edge only while the wallet is admitted, or the operator’s token lives, where invitations are %s',
    async (invitations) => {
      const platform = start('screened');
      const session = await registered(platform, a);
      await session.onboard(a.walletPub, a.encryptionPublicKey);
      const own = (await session.mintEdgeToken('x')).token;
      const strict = start(invitations);
      await database.db.updateTable('subjects').set({ admitted_at: null }).execute();
      expect(await bootstrap(strict, own)).toMatchObject({
        status: 403,
        body: { code: 'edge_token_not_allowed' },
      });
      const customer = await strict.edgeToken(a.address);
      expect((await bootstrap(strict, own)).status).toBe(200);
      await revokeCredential(database.db, 'edge token', customer.id, strict.clock.nowMs);
      expect((await bootstrap(strict, own)).status).toBe(403);
      expect((await bootstrap(strict, customer.token)).status).toBe(401);
      await database.db.updateTable('subjects').set({ admitted_at: 'now' }).execute();
      expect((await bootstrap(strict, own)).status).toBe(200);
    },
  );

  it('that was made without admission is refused once the deployment requires it', async () => {
    const session = await registered(start('off'), a);
    const { token } = await session.mintEdgeToken('x');
    expect((await bootstrap(start('off'), token)).status).toBe(200);
    expect((await bootstrap(start('required'), token)).status).toBe(403);
  });

  it('is given to a customer of the operator, and lists the operator’s token too', async () => {
    const platform = start('required');
    const session = await registered(platform, a);
    const first = await platform.edgeToken(a.address);
    const own = await session.mintEdgeToken('second host');
    expect(await session.listEdgeTokens()).toMatchObject([
      { id: first.id, issuedBy: 'operator' },
      { id: own.id, issuedBy: 'session' },
    ]);
  });

  it('does not give the right to invite wallets, which a token of the operator gives', async () => {
    const platform = start('screened');
    const session = await registered(platform, a);
    await session.onboard(a.walletPub, a.encryptionPublicKey);
    await session.mintEdgeToken('x');
    await expect(session.invite([b.address])).rejects.toMatchObject({
      code: 'invitation_quota_exhausted',
    });
    await platform.edgeToken(a.address);
    expect(await session.invite([b.address])).toMatchObject({ walletsTaken: 1 });
  });

  it('requires an employer account and a session', async () => {
    const platform = start();
    const session = await platform.signIn(a);
    await expect(session.mintEdgeToken('x')).rejects.toMatchObject({ code: 'employer_not_found' });
    await expect(platform.session().mintEdgeToken('x')).rejects.toMatchObject({
      code: 'unauthorized',
    });
  });

  it.each([
    ['POST', '', { name: 'x' }],
    ['GET', '', undefined],
    ['DELETE', '/1', undefined],
  ])('%s %s accepts no credential but the session cookie', async (method, path, body) => {
    const platform = start();
    const session = await registered(platform, a);
    const { token } = await session.mintEdgeToken('x');
    const { apiKey } = await session.mintKey('disburse', 'x');
    for (const bearer of [token, apiKey]) {
      const response = await platform.app.request(`/api/employers/edge-tokens${path}`, {
        method,
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${bearer.reveal()}`,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      expect(response.status).toBe(401);
    }
    expect(await session.listEdgeTokens()).toHaveLength(1);
  });

  it.each(['', 'a\nb', 'x'.repeat(121)])('refuses the name %j', async (name) => {
    const session = await registered(start(), a);
    await expect(session.mintEdgeToken(name)).rejects.toMatchObject({ code: 'invalid_request' });
  });
});
