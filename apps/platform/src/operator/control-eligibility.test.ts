/** The operator's routes about the eligibility list, over the platform's own enrolment. */
import { bigintToHex32, errorCodeOf, parseHex32, Secret } from '@pool/core';
import { createTestHolder, type TestHolder } from '@pool/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { createLog } from '../../../../packages/http-server/src/service/log.ts';
import {
  createFakeGate,
  createTestPlatform,
  type TestPlatform,
  testCredentials,
} from '../fixtures/test-platform.ts';
import type { EligibilityControl } from './control.ts';
import { createControlApp } from './control.ts';

describe('the operator’s eligibility routes', () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let employer: TestHolder;
  let a: TestHolder;
  let b: TestHolder;
  let removed: string[];
  let removal: Promise<void>;
  const admission = { invitations: 'required', walletsPerEmployer: 1 } as const;
  beforeAll(async () => {
    database = await openTestDatabase();
    employer = await createTestHolder('employer');
    a = await createTestHolder('a');
    b = await createTestHolder('b');
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    removed = [];
    removal = Promise.resolve();
    platform = createTestPlatform(database, {
      gate: createFakeGate(() => Promise.resolve({ status: 'whitelisted' })),
      admission,
    });
    await platform.edgeToken(employer.address);
  });

  const running: EligibilityControl = {
    invitations: { walletsPerEmployer: 1, invitationDays: 90 },
    gate: {
      capacity: () => Promise.resolve({ capacity: 5, used: 4, nearlyFull: true }),
      deleteWallet: async (walletId) => {
        removed.push(walletId);
        await removal;
        const root = bigintToHex32(0n);
        return { walletId: parseHex32(walletId), root, status: 'removed' };
      },
    },
  };
  async function call(
    path: string,
    body?: unknown,
    eligibility: EligibilityControl | undefined = running,
  ): Promise<[number, Record<string, unknown>]> {
    const deps = {
      db: database.db,
      credentials: testCredentials,
      log: createLog('silent', 'test'),
      nowMs: () => platform.clock.nowMs,
    };
    const app = createControlApp(
      eligibility === undefined ? deps : { ...deps, eligibility },
      new Secret('operator'),
    );
    const response = await app.request(`http://127.0.0.1/eligibility/${path}`, {
      headers: { authorization: 'Bearer operator', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    return [response.status, (await response.json()) as Record<string, unknown>];
  }
  async function enrol(wallet: TestHolder) {
    const session = await platform.signIn(wallet);
    await session.register();
    const onboarded = session.onboard(wallet.walletPub, wallet.encryptionPublicKey);
    return await onboarded.then(({ readiness }) => readiness, errorCodeOf);
  }
  const invite = (...wallets: TestHolder[]) =>
    call('invite', {
      address: employer.address,
      wallets: wallets.map(({ address }) => address),
    });

  it('report how many leaves of the tree are used', async () => {
    expect(await call('capacity')).toEqual([200, { capacity: 5, used: 4, nearlyFull: true }]);
  });

  it('remove a wallet, which is then not fundable and requires another invitation', async () => {
    expect(await invite(a)).toEqual([200, { walletLimit: 1, walletsTaken: 1 }]);
    expect(await enrol(a)).toBe('ready');
    expect(await invite(b)).toMatchObject([403, { code: 'invitation_quota_exhausted' }]);
    const { address } = a;
    expect(await call('remove', { address })).toEqual([200, { address, state: 'removed' }]);
    const session = await platform.signIn(a);
    expect((await session.getEnrollment()).readiness).toBe('eligibility_failed');
    expect(await enrol(a)).toBe('not_invited');
    expect(await invite(b)).toMatchObject([200, { walletsTaken: 1 }]);
    expect(await enrol(b)).toBe('ready');
    expect(removed).toHaveLength(1);
  });

  it('keep the place of a removed wallet until the gate has freed it, and finish at the next call', async () => {
    await invite(a);
    await enrol(a);
    removal = Promise.reject(new Error('the gate is down'));
    expect((await call('remove', { address: a.address }))[0]).toBe(500);
    expect(await invite(b)).toMatchObject([403, { code: 'invitation_quota_exhausted' }]);
    expect(await enrol(a)).toBe('not_invited');
    removal = Promise.resolve();
    expect(await call('remove', { address: a.address })).toMatchObject([200, { state: 'removed' }]);
    expect(await invite(b)).toMatchObject([200, { walletsTaken: 1 }]);
  });

  it('set and reset the limit of an employer', async () => {
    const { address } = employer;
    expect(await call('limit', { address, wallets: 2 })).toMatchObject([200, { walletLimit: 2 }]);
    expect(await invite(a, b)).toMatchObject([200, { walletLimit: 2, walletsTaken: 2 }]);
    await call('limit', { address, wallets: 0 });
    expect(await enrol(a)).toBe('not_invited');
    expect(await invite(a)).toMatchObject([403, { code: 'invitation_quota_exhausted' }]);
    await call('limit', { address, wallets: null });
    expect(await enrol(a)).toBe('ready');
  });

  it.each([
    ['remove', { address: '0x5FbDB2315678afecb367f032d93F642f64180aa3' }, 404, 'not_found'],
    ['remove', { address: '0x12' }, 400, 'invalid-address'],
    ['limit', { address: '0x12', wallets: 1 }, 400, 'invalid-address'],
    ['limit', { wallets: -1 }, 400, 'invalid_request'],
    [
      'invite',
      { address: '0x5FbDB2315678afecb367f032d93F642f64180aa3', wallets: ['0x12'] },
      409,
      'employer_not_found',
    ],
  ])('refuse a bad %s: %j', async (path, body, status, code) => {
    expect(await call(path, body)).toMatchObject([status, { code }]);
  });

  it('report that they need the running platform, or a gate', async () => {
    const deps = { gate: undefined, invitations: running.invitations };
    expect(await call('capacity', undefined, deps)).toMatchObject([409, { code: 'no_gate' }]);
  });
});
