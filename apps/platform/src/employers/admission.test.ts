/** Which wallets get a leaf of the eligibility tree: limits per address and per employer, invitations, a full tree. */
import { errorCodeOf, PoolError, type Secret } from '@pool/core';
import { createSessionClient, type SessionClient } from '@pool/platform-client';
import { createTestHolder, type TestHolder } from '@pool/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { isAdmitted } from '../../../../packages/relayer/src/accept/accept-spend.ts';
import { revokeCredential } from '../accounts/credentials.ts';
import {
  createFakeGate,
  createTestPlatform,
  type TestPlatform,
} from '../fixtures/test-platform.ts';

const dayMs = 86_400_000;

describe('admission to the eligibility tree', () => {
  let database: TestDatabase;
  let employer: TestHolder;
  let holders: TestHolder[];
  let gate: ReturnType<typeof createFakeGate>;
  let isFull: boolean;
  beforeAll(async () => {
    database = await openTestDatabase();
    employer = await createTestHolder('employer');
    holders = await Promise.all(
      Array.from({ length: 6 }, (_, index) => createTestHolder(`holder ${index}`)),
    );
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    isFull = false;
    gate = createFakeGate(() =>
      isFull
        ? Promise.reject(new PoolError('tree_full', 'all places are taken'))
        : Promise.resolve({ status: 'whitelisted' }),
    );
  });

  const start = (admission: Parameters<typeof createTestPlatform>[1] = {}) =>
    createTestPlatform(database, { gate, proxyHops: 1, ...admission });
  const holder = (index: number): TestHolder => {
    const found = holders[index];
    if (found === undefined) throw new Error('no such holder');
    return found;
  };

  /** Signs in and registers through a proxy that saw that address. */
  async function sessionOf(
    platform: TestPlatform,
    wallet: TestHolder,
    from = '198.51.100.7',
  ): Promise<SessionClient> {
    const session = createSessionClient({
      url: platform.url,
      nowMs: () => platform.clock.nowMs,
      fetch: (input, init) => {
        const headers = new Headers(init.headers);
        headers.set('x-forwarded-for', from);
        return platform.fetch(input, { ...init, headers });
      },
    });
    await platform.signInWith(session, wallet);
    await session.register();
    return session;
  }
  async function enrol(platform: TestPlatform, wallet: TestHolder, from?: string) {
    const session = await sessionOf(platform, wallet, from);
    return await session.onboard(wallet.walletPub, wallet.encryptionPublicKey);
  }
  /** The answer as it is on the wire, for its headers. */
  async function enrolRaw(platform: TestPlatform, wallet: TestHolder): Promise<Response> {
    let answer = new Response();
    const session = createSessionClient({
      url: platform.url,
      nowMs: () => platform.clock.nowMs,
      fetch: async (input, init) => {
        const headers = new Headers(init.headers);
        headers.set('x-forwarded-for', '198.51.100.7');
        answer = await platform.fetch(input, { ...init, headers });
        return answer.clone();
      },
    });
    await platform.signInWith(session, wallet);
    await session.register();
    await session.onboard(wallet.walletPub, wallet.encryptionPublicKey).catch(() => undefined);
    return answer;
  }

  describe('with a limit per caller address', () => {
    const limited = { admission: { enrolmentsPerAddress: 2 } };

    it('refuses a wallet above the limit, with the time of the next free place', async () => {
      const platform = start(limited);
      await enrol(platform, holder(0));
      platform.clock.nowMs += 3_600_000;
      await enrol(platform, holder(1));
      const refused = await enrolRaw(platform, holder(2));
      expect(refused.status).toBe(429);
      expect(await refused.json()).toMatchObject({ code: 'rate_limited' });
      expect(Number(refused.headers.get('retry-after'))).toBe(82_800);
      expect(gate.asked).toHaveLength(2);
      expect((await enrol(platform, holder(2), '198.51.100.8')).readiness).toBe('ready');
      platform.clock.nowMs += dayMs - 3_600_000;
      expect((await enrol(platform, holder(3))).readiness).toBe('ready');
    });

    it('keeps the count over a restart, and stores nothing of a refused wallet', async () => {
      await enrol(start(limited), holder(0));
      await enrol(start(limited), holder(1));
      const platform = start(limited);
      const session = await sessionOf(platform, holder(2));
      const { walletPub, encryptionPublicKey } = holder(2);
      expect(await session.onboard(walletPub, encryptionPublicKey).catch(errorCodeOf)).toBe(
        'rate_limited',
      );
      expect((await session.getEnrollment()).readiness).toBe('not_enrolled');
    });

    it('counts a wallet once for any number of enrolments, and does not count a rotation', async () => {
      const platform = start(limited);
      for (let i = 0; i < 4; i += 1) {
        expect((await enrol(platform, holder(0))).readiness).toBe('ready');
      }
      const next = { ...holder(0), encryptionPublicKey: holder(5).encryptionPublicKey };
      platform.clock.nowMs += 1_000;
      const session = await sessionOf(platform, next);
      const { walletPub, encryptionPublicKey } = holder(0);
      await session.rotateEncryptionKey(walletPub, encryptionPublicKey, next.encryptionPublicKey);
      await session.onboard(walletPub, next.encryptionPublicKey);
      expect(new Set(gate.asked).size).toBe(1);
      expect((await enrol(platform, holder(1))).readiness).toBe('ready');
    });

    it('keeps the limit under concurrent enrolments', async () => {
      const platform = start(limited);
      const sessions = await Promise.all(holders.map((wallet) => sessionOf(platform, wallet)));
      const answers = await Promise.all(
        sessions.map((session, index) =>
          session
            .onboard(holder(index).walletPub, holder(index).encryptionPublicKey)
            .then(({ readiness }) => readiness, errorCodeOf),
        ),
      );
      expect(answers.filter((answer) => answer === 'ready')).toHaveLength(2);
      expect(answers.filter((answer) => answer === 'rate_limited')).toHaveLength(4);
    });

    it('applies no limit without a gate', async () => {
      const platform = start({ ...limited, gate: undefined });
      for (const wallet of holders) {
        expect((await enrol(platform, wallet)).readiness).toBe('eligibility_disabled');
      }
    });
  });

  describe('with required invitations', () => {
    let platform: TestPlatform;
    let inviting: SessionClient;
    let tokenId: number;
    beforeEach(async () => {
      platform = start({ admission: { invitations: 'required', walletsPerEmployer: 2 } });
      tokenId = (await platform.edgeToken(employer.address)).id;
      inviting = await sessionOf(platform, employer);
    });
    const addresses = (...indices: number[]) => indices.map((index) => holder(index).address);
    const enrolled = (index: number) => enrol(platform, holder(index)).catch(errorCodeOf);

    it('refuses a wallet without an invitation, and says what to do', async () => {
      const session = await sessionOf(platform, holder(0));
      const { walletPub, encryptionPublicKey } = holder(0);
      await expect(session.onboard(walletPub, encryptionPublicKey)).rejects.toMatchObject({
        code: 'not_invited',
        status: 403,
        message: expect.stringContaining('employer'),
      });
      expect(gate.asked).toEqual([]);
      expect((await session.getEnrollment()).readiness).toBe('not_enrolled');
    });

    it('enrols an invited wallet by the usual calls, also a second time [enrol.body]', async () => {
      expect(await inviting.invite(addresses(0))).toMatchObject({
        walletLimit: 2,
        walletsTaken: 1,
      });
      expect(await enrolled(0)).toMatchObject({ created: true, readiness: 'ready' });
      expect(await enrolled(0)).toMatchObject({ created: false, readiness: 'ready' });
      const { invitations } = await inviting.listInvitations();
      expect(invitations).toEqual([
        {
          address: holder(0).address,
          createdAt: expect.any(String),
          enrolledAt: expect.any(String),
        },
      ]);
    });

    it('counts the invited and the enrolled wallets of an employer, and invites all wallets of a call or none', async () => {
      await inviting.invite(addresses(0));
      await enrolled(0);
      await expect(inviting.invite(addresses(1, 2))).rejects.toMatchObject({
        code: 'invitation_quota_exhausted',
        status: 403,
        message: expect.stringContaining('operator'),
      });
      expect(await enrolled(1)).toBe('not_invited');
      await inviting.invite(addresses(1));
      await inviting.invite(addresses(1));
      expect((await inviting.listInvitations()).walletsTaken).toBe(2);
      // An enrolled wallet has its leaf: its invitation cannot be withdrawn to invite another wallet.
      expect(await inviting.cancelInvitation(holder(0).address).catch(errorCodeOf)).toBe(
        'invitation_used',
      );
      await inviting.cancelInvitation(holder(1).address);
      expect(await enrolled(1)).toBe('not_invited');
      await inviting.invite(addresses(2));
      expect(await enrolled(2)).toMatchObject({ readiness: 'ready' });
      expect(await inviting.cancelInvitation(holder(4).address).catch(errorCodeOf)).toBe(
        'not_found',
      );
    });

    it('refuses invitations by an employer without an edge token', async () => {
      const stranger = await sessionOf(platform, holder(3));
      expect(await stranger.invite(addresses(3)).catch(errorCodeOf)).toBe(
        'invitation_quota_exhausted',
      );
      expect((await stranger.listInvitations()).walletLimit).toBe(0);
    });

    it('ends the open invitations of an employer when its last edge token is revoked', async () => {
      await inviting.invite(addresses(0, 1));
      await enrolled(0);
      await revokeCredential(database.db, 'edge token', tokenId, platform.clock.nowMs);
      expect(await enrolled(1)).toBe('not_invited');
      expect(await enrolled(0)).toMatchObject({ readiness: 'ready' });
    });

    it('ends an unused invitation after its lifetime', async () => {
      await inviting.invite(addresses(0, 1));
      await enrolled(0);
      platform.clock.nowMs += 90 * dayMs;
      expect(await enrolled(1)).toBe('not_invited');
      inviting = await sessionOf(platform, employer);
      expect(await inviting.invite(addresses(2))).toMatchObject({ walletsTaken: 2 });
      expect(await enrolled(2)).toMatchObject({ readiness: 'ready' });
    });

    it('uses one invitation per wallet, that of the first employer', async () => {
      await platform.edgeToken(holder(4).address);
      const other = await sessionOf(platform, holder(4));
      await inviting.invite(addresses(0));
      platform.clock.nowMs += 1_000;
      await other.invite(addresses(0));
      await enrolled(0);
      expect((await inviting.listInvitations()).invitations[0]?.enrolledAt).toBeDefined();
      expect((await other.listInvitations()).invitations[0]?.enrolledAt).toBeUndefined();
    });

    it('refuses a text that is not an address', async () => {
      expect(await inviting.invite(['0x12']).catch(errorCodeOf)).toBe('invalid-address');
    });
  });

  describe('with a gate that screens', () => {
    let answer: Awaited<ReturnType<Parameters<typeof createFakeGate>[0]>>;
    let platform: TestPlatform;
    beforeEach(() => {
      gate = createFakeGate(() => Promise.resolve(answer));
      platform = start({ admission: { invitations: 'screened', enrolmentsPerAddress: 1 } });
    });
    const admitted = () => isAdmitted(database.db, holder(0).address);
    async function lookUp(token: Secret): Promise<number> {
      const response = await platform.app.request('/agent-edge/recipients/lookup', {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token.reveal()}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ chain: 'anvil', addresses: [holder(1).address] }),
      });
      return response.status;
    }

    it('does not admit a wallet that the gate denies, and charges it once for any number of tries', async () => {
      answer = { status: 'denied' };
      for (let i = 0; i < 3; i += 1) {
        expect((await enrol(platform, holder(0))).readiness).toBe('eligibility_failed');
      }
      expect(await admitted()).toBe(false);
      const session = await sessionOf(platform, holder(0));
      expect(await session.mintEdgeToken('x').catch(errorCodeOf)).toBe('edge_token_not_allowed');
      answer = { status: 'whitelisted' };
      expect((await enrol(platform, holder(0))).readiness).toBe('ready');
      expect(await admitted()).toBe(true);
    });

    it('ends the admission, and the look-ups with it, when the gate denies the wallet later', async () => {
      answer = { status: 'whitelisted' };
      await enrol(platform, holder(0));
      const { token } = await (await sessionOf(platform, holder(0))).mintEdgeToken('x');
      expect(await lookUp(token)).toBe(200);
      answer = { status: 'denied' };
      await enrol(platform, holder(0));
      expect([await admitted(), await lookUp(token)]).toEqual([false, 403]);
    });

    it('admits a wallet when the answer comes, not while the gate is asked', async () => {
      const write = Promise.withResolvers<typeof answer>();
      gate = createFakeGate(() => write.promise);
      platform = start({ admission: { invitations: 'screened' }, gateWaitMs: 10 });
      expect((await enrol(platform, holder(0))).readiness).toBe('eligibility_pending');
      expect(await admitted()).toBe(false);
      write.resolve({ status: 'whitelisted' });
      await expect.poll(admitted).toBe(true);
    });
  });

  it('answers 503 while the tree is full, keeps the wallet, and enrols it when a leaf is free', async () => {
    const platform = start();
    await enrol(platform, holder(0));
    isFull = true;
    const refused = await enrolRaw(platform, holder(1));
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ code: 'tree_full' });
    expect(refused.headers.get('retry-after')).not.toBeNull();
    const session = await sessionOf(platform, holder(1));
    expect((await session.getEnrollment()).readiness).toBe('eligibility_failed');
    expect((await (await sessionOf(platform, holder(0))).getEnrollment()).readiness).toBe('ready');
    isFull = false;
    expect((await enrol(platform, holder(1))).readiness).toBe('ready');
  });
});
