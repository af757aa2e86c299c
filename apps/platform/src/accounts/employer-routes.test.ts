import { errorCodeOf } from '@pool/core';
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

const confirmedAt = '2026-11-21T09:59:00.000Z';

describe('employer routes', () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let a: TestHolder;
  let b: TestHolder;
  const whitelisting = createFakeGate(() =>
    Promise.resolve({ status: 'whitelisted', whitelistedAt: confirmedAt }),
  );

  beforeAll(async () => {
    database = await openTestDatabase();
    [a, b] = [await createTestHolder('a'), await createTestHolder('b')];
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    platform = createTestPlatform(database, { gate: whitelisting });
  });

  async function registered(holder: TestHolder, withKey = true) {
    const session = await platform.signIn(holder, withKey);
    await session.register('Ada & Co');
    return session;
  }

  describe('register', () => {
    it('is idempotent per wallet [register.creates]', async () => {
      const session = await platform.signIn(a);
      const first = await session.register();
      expect(first).toMatchObject({ success: true, created: true, address: a.address });
      expect(await session.register()).toEqual({ ...first, created: false });
      const other = await (await platform.signIn(b)).register();
      expect(other.employerId).not.toBe(first.employerId);
    });

    it('requires a session [register.session]', async () => {
      await expect(platform.session().register()).rejects.toMatchObject({
        code: 'unauthorized',
        status: 401,
      });
    });
  });

  it.each([
    ['POST', '/register', { name: 'x' }],
    ['POST', '/holder/onboard', {}],
    ['POST', '/holder/rotate-encryption-key', {}],
    ['GET', '/holder/enrollment', undefined],
    ['POST', '/keys', { capability: 'disburse', name: 'x' }],
    ['GET', '/keys', undefined],
    ['DELETE', '/keys/1', undefined],
  ])(
    '%s %s accepts no credential but the session cookie [register.session, onboard.session, employers.session]',
    async (method, path, body) => {
      const session = await registered(a);
      const { apiKey } = await session.mintKey('disburse', 'x');
      const { token } = await platform.edgeToken(a.address);
      for (const credential of [
        {},
        { cookie: 'sessionId=' },
        { cookie: `sessionId=${'A'.repeat(43)}` },
        { authorization: `Bearer ${apiKey.reveal()}` },
        { authorization: `Bearer ${token.reveal()}` },
      ]) {
        const response = await platform.app.request(`/api/employers${path}`, {
          method,
          headers: { 'content-type': 'application/json', ...credential },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        expect(response.status).toBe(401);
        expect(await response.json()).toMatchObject({ code: 'unauthorized' });
      }
      expect(await session.listKeys()).toHaveLength(1);
    },
  );

  describe('onboard', () => {
    it('enrols the session’s wallet and reports the answer of the gate [enrol.body, enrol.response, enrol.read-state, enrol.ready, enrol.not-enrolled, enrol.idempotent, enrol.no-credential, readiness.first-post, register.creates, enrollment.read]', async () => {
      const session = await registered(a);
      expect(await session.getEnrollment()).toEqual({ success: true, readiness: 'not_enrolled' });
      const enrolled = {
        walletPub: a.walletPub,
        encryptionPublicKey: a.encryptionPublicKey,
        readiness: 'ready',
        eligibilityWhitelistedAt: confirmedAt,
      };
      const first = await session.onboard(a.walletPub, a.encryptionPublicKey);
      expect(first).toEqual({ success: true, created: true, ...enrolled });
      const second = await session.onboard(a.walletPub, a.encryptionPublicKey);
      expect(second).toEqual({ success: true, created: false, ...enrolled });
      expect(await session.getEnrollment()).toEqual({ success: true, ...enrolled });
    });

    it('refuses a wallet that is not the session’s [enrol.address-checked, auth.session-wallet-is-w, error.wallet-mismatch]', async () => {
      const session = await registered(a);
      await expect(session.onboard(b.walletPub, b.encryptionPublicKey)).rejects.toMatchObject({
        code: 'wallet_mismatch',
        status: 403,
      });
    });

    it('requires a sign-in that lists the key, and names the resource', async () => {
      const session = await registered(a, false);
      await expect(session.onboard(a.walletPub, a.encryptionPublicKey)).rejects.toMatchObject({
        code: 'evidence_required',
        status: 409,
        message: expect.stringContaining(`urn:pool:encryption-key:${a.encryptionPublicKey}`),
      });
      const other = await registered(a);
      await expect(other.onboard(a.walletPub, b.encryptionPublicKey)).rejects.toMatchObject({
        code: 'evidence_required',
      });
    });

    it('refuses another key, and names the rotation route', async () => {
      const session = await registered(a);
      await session.onboard(a.walletPub, a.encryptionPublicKey);
      await expect(session.onboard(a.walletPub, b.encryptionPublicKey)).rejects.toMatchObject({
        code: 'use_rotate',
        status: 409,
      });
    });

    it('accepts an encryption key for one wallet only', async () => {
      const session = await registered(a);
      await session.onboard(a.walletPub, a.encryptionPublicKey);
      // b signs a's key into its own sign-in: a valid text, and no proof of the viewing key.
      const thief = { ...b, encryptionPublicKey: a.encryptionPublicKey };
      const intruder = await registered(thief);
      await expect(intruder.onboard(b.walletPub, a.encryptionPublicKey)).rejects.toMatchObject({
        code: 'encryption_key_taken',
        status: 409,
        message: expect.stringContaining('a viewing key of its own'),
      });
      expect((await intruder.getEnrollment()).readiness).toBe('not_enrolled');
      const own = await registered(b);
      expect(await own.onboard(b.walletPub, b.encryptionPublicKey)).toMatchObject({
        created: true,
      });
    });

    it('accepts one of two concurrent enrolments with the same key', async () => {
      const thief = { ...b, encryptionPublicKey: a.encryptionPublicKey };
      const [first, second] = [await registered(a), await registered(thief)];
      const outcomes = await Promise.allSettled([
        first.onboard(a.walletPub, a.encryptionPublicKey),
        second.onboard(b.walletPub, a.encryptionPublicKey),
      ]);
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      expect(await database.db.selectFrom('subjects').selectAll().execute()).toHaveLength(1);
    });

    it('accepts one of two concurrent enrolments of a wallet, and refers the other to rotation', async () => {
      const first = await registered(a);
      const second = await registered({ ...a, encryptionPublicKey: b.encryptionPublicKey });
      const outcomes = await Promise.allSettled([
        first.onboard(a.walletPub, a.encryptionPublicKey),
        second.onboard(a.walletPub, b.encryptionPublicKey),
      ]);
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
      expect(refused.map(({ reason }) => errorCodeOf(reason))).toEqual(['use_rotate']);
    });

    it('requires an employer account first [service.employer-first]', async () => {
      const session = await platform.signIn(a);
      await expect(session.onboard(a.walletPub, a.encryptionPublicKey)).rejects.toMatchObject({
        code: 'employer_not_found',
        status: 409,
      });
    });

    it.each([
      ['a W that is not a curve point', `0x02${'f'.repeat(64)}`, undefined],
      ['a P that is not a curve point', undefined, `0x${'f'.repeat(64)}`],
      ['a P that is the identity', undefined, `0x01${'0'.repeat(62)}`],
    ])('refuses %s', async (_name, walletPub, key) => {
      const session = await registered(a);
      await expect(
        session.onboard(walletPub ?? a.walletPub, key ?? a.encryptionPublicKey),
      ).rejects.toMatchObject({ status: 400 });
    });

    it('is pending while the gate takes longer than one request waits, and ready afterwards [enrol.read-state, enrol.pending]', async () => {
      const { promise, resolve } = Promise.withResolvers<{ status: 'whitelisted' }>();
      platform = createTestPlatform(database, {
        gate: createFakeGate(() => promise),
        gateWaitMs: 20,
      });
      const session = await registered(a);
      const pending = await session.onboard(a.walletPub, a.encryptionPublicKey);
      expect(pending).toMatchObject({ created: true, readiness: 'eligibility_pending' });
      expect((await session.getEnrollment()).readiness).toBe('eligibility_pending');
      resolve({ status: 'whitelisted' });
      await expect.poll(async () => (await session.getEnrollment()).readiness).toBe('ready');
    });

    it('is failed when the gate cannot be reached, and tries again on the next call [enrol.failed, readiness.repost-retries-failed]', async () => {
      let up = false;
      platform = createTestPlatform(database, {
        gate: createFakeGate(() =>
          up ? Promise.resolve({ status: 'whitelisted' }) : Promise.reject(new Error('down')),
        ),
      });
      const session = await registered(a);
      const failed = await session.onboard(a.walletPub, a.encryptionPublicKey);
      expect(failed).toMatchObject({ created: true, readiness: 'eligibility_failed' });
      expect(failed.eligibilityWhitelistedAt).toBeUndefined();
      up = true;
      const again = await session.onboard(a.walletPub, a.encryptionPublicKey);
      expect(again).toMatchObject({ created: false, readiness: 'ready' });
      // A later outage does not remove the wallet from the list.
      up = false;
      await session.onboard(a.walletPub, a.encryptionPublicKey);
      expect((await session.getEnrollment()).readiness).toBe('ready');
    });

    it('is failed when screening denies the wallet [enrol.failed, enrol.screened]', async () => {
      platform = createTestPlatform(database, {
        gate: createFakeGate(() => Promise.resolve({ status: 'denied' })),
      });
      const session = await registered(a);
      const denied = await session.onboard(a.walletPub, a.encryptionPublicKey);
      expect(denied.readiness).toBe('eligibility_failed');
    });

    it('is disabled in a deployment without a gate, and asks the gate after one is configured [enrol.disabled]', async () => {
      platform = createTestPlatform(database);
      const session = await registered(a);
      for (const created of [true, false]) {
        expect(await session.onboard(a.walletPub, a.encryptionPublicKey)).toMatchObject({
          created,
          readiness: 'eligibility_disabled',
        });
      }
      expect((await session.getEnrollment()).readiness).toBe('eligibility_disabled');
      platform = createTestPlatform(database, { gate: whitelisting });
      const later = await registered(a);
      expect((await later.getEnrollment()).readiness).toBe('eligibility_disabled');
      expect(await later.onboard(a.walletPub, a.encryptionPublicKey)).toMatchObject({
        readiness: 'ready',
      });
    });
  });

  describe('keys', () => {
    it('shows the plaintext once, and stores a hash [key.name, key.response, key.prefix, key.plaintext-once, key.list, key.stored-hashed, keys.mint]', async () => {
      const session = await registered(a);
      const minted = await session.mintKey('holder.send', 'treasury');
      const plain = minted.apiKey.reveal();
      expect(plain).toMatch(/^pool_live_[A-Za-z0-9]{8}_[1-9A-HJ-NP-Za-km-z]{50,54}$/);
      expect(plain.startsWith(`${minted.keyPrefix}_`)).toBe(true);
      expect(minted.keyPrefix).toHaveLength('pool_live_'.length + 8);
      const listed = await session.listKeys();
      expect(listed).toEqual([
        {
          id: minted.id,
          keyPrefix: minted.keyPrefix,
          capability: 'holder.send',
          name: 'treasury',
          createdAt: '2026-11-21T10:00:00.000Z',
        },
      ]);
      const rows = await database.db.selectFrom('credentials').selectAll().execute();
      expect(JSON.stringify(rows)).not.toContain(plain.slice(-30));
    });

    it.each(['disburse', 'holder.read', 'holder.transfer', 'holder.send'] as const)(
      'mints %s and verifies it until it is revoked [key.capabilities, key.list, key.id-revokes, keys.list, keys.revoke, verify-key.for-agents]',
      async (capability) => {
        const session = await registered(a);
        const minted = await session.mintKey(capability, 'x');
        const { token } = await platform.edgeToken(a.address);
        const foreign = (await platform.edgeToken(b.address)).token;
        const check = async (apiKey: string, asking = token) => {
          const response = await platform.app.request('/api/employers/verify-key', {
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              authorization: `Bearer ${asking.reveal()}`,
            },
            body: JSON.stringify({ apiKey }),
          });
          const answer: unknown = await response.json();
          return answer;
        };
        const { employerId } = await session.register();
        expect(await check(minted.apiKey.reveal())).toEqual({
          valid: true,
          capability,
          employerId,
          address: a.address,
          keyId: minted.id,
        });
        const plain = minted.apiKey.reveal();
        // Another employer learns neither whose the key is nor that it exists.
        expect(await check(plain, foreign)).toEqual({ valid: false });
        const altered = `${plain.slice(0, -1)}${plain.endsWith('2') ? '3' : '2'}`;
        expect(await check(altered)).toEqual({ valid: false });
        await session.revokeKey(minted.id);
        expect(await check(minted.apiKey.reveal())).toEqual({ valid: false });
        const [listed] = await session.listKeys();
        expect(listed?.revokedAt).toBe('2026-11-21T10:00:00.000Z');
      },
    );

    it('allows 50 live keys per wallet, and another one after a revocation [key.list, key.additive, key.limit, keys.list, limit.live-keys]', async () => {
      const session = await registered(a);
      const minted = [];
      for (let i = 0; i < 50; i += 1) {
        minted.push(await session.mintKey('disburse', `key ${i}`));
      }
      await expect(session.mintKey('disburse', 'one too many')).rejects.toMatchObject({
        code: 'key_limit_reached',
        status: 409,
      });
      await session.revokeKey(minted[0]?.id ?? 0);
      await session.mintKey('disburse', 'fits again');
      expect(await session.listKeys()).toHaveLength(51);
      // Another wallet has its own fifty keys, and sees no others.
      const other = await registered(b);
      expect(await other.listKeys()).toEqual([]);
      await other.mintKey('disburse', 'first');
      expect((await other.listKeys()).map(({ name }) => name)).toEqual(['first']);
      expect(await session.listKeys()).toHaveLength(51);
    });

    it('mints 50 of 60 keys that are requested concurrently [key.limit]', async () => {
      const session = await registered(a);
      const outcomes = await Promise.allSettled(
        Array.from({ length: 60 }, (_, i) => session.mintKey('holder.read', `key ${i}`)),
      );
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
      expect(refused.map(({ reason }) => errorCodeOf(reason))).toEqual(
        Array.from({ length: 10 }, () => 'key_limit_reached'),
      );
      const listed = await session.listKeys();
      expect(listed).toHaveLength(50);
      expect(new Set(listed.map(({ keyPrefix }) => keyPrefix)).size).toBe(50);
    });

    it('revokes a key once, and keeps the other keys valid [key.additive]', async () => {
      const session = await registered(a);
      const [first, second] = [
        await session.mintKey('disburse', 'same name'),
        await session.mintKey('disburse', 'same name'),
      ];
      // Revoking one key does not end another key of the same name and capability.
      expect((await session.listKeys()).map(({ revokedAt }) => revokedAt)).toEqual([
        undefined,
        undefined,
      ]);
      await Promise.all([session.revokeKey(first.id), session.revokeKey(first.id)]);
      const listed = await session.listKeys();
      platform.clock.nowMs += 60_000;
      await session.revokeKey(first.id);
      expect(await session.listKeys()).toEqual(listed);
      expect(listed.map(({ id, revokedAt }) => [id, revokedAt])).toEqual([
        [first.id, '2026-11-21T10:00:00.000Z'],
        [second.id, undefined],
      ]);
    });

    it('does not revoke a key of another wallet or an unknown key [keys.revoke]', async () => {
      const minted = await (await registered(a)).mintKey('disburse', 'x');
      const stranger = await registered(b);
      for (const id of [minted.id, 9999]) {
        await expect(stranger.revokeKey(id)).rejects.toMatchObject({
          code: 'not_found',
          status: 404,
        });
      }
      const response = await platform.app.request('/api/employers/keys/1e3', { method: 'DELETE' });
      expect(response.status).toBe(401);
    });

    it('requires an employer account first', async () => {
      const session = await platform.signIn(a);
      await expect(session.mintKey('disburse', 'x')).rejects.toMatchObject({
        code: 'employer_not_found',
      });
    });
  });

  describe('verify-key', () => {
    it.each([
      ['no credential', {}],
      ['another scheme', { authorization: 'Basic abc' }],
      ['an unknown token', { authorization: `Bearer pool_edge_abcd1234_${'A'.repeat(44)}` }],
    ])('refuses %s [verify-key.for-agents]', async (_name, headers) => {
      const response = await platform.app.request('/api/employers/verify-key', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ apiKey: 'x' }),
      });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="pool"');
      expect(((await response.json()) as { code: string }).code).toBe('unauthorized');
    });

    it('refuses an API key in place of an edge token [verify-key.for-agents]', async () => {
      const minted = await (await registered(a)).mintKey('disburse', 'x');
      const response = await platform.app.request('/api/employers/verify-key', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${minted.apiKey.reveal()}`,
        },
        body: JSON.stringify({ apiKey: minted.apiKey.reveal() }),
      });
      expect(response.status).toBe(401);
    });
  });
});
