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

describe('readiness', () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let a: TestHolder;
  beforeAll(async () => {
    database = await openTestDatabase();
    a = await createTestHolder('a');
  });
  afterAll(() => database.close());
  beforeEach(() => database.reset());

  async function registered(holder: TestHolder) {
    const session = await platform.signIn(holder);
    await session.register();
    return session;
  }

  describe('with a gate whose answers the test controls', () => {
    type Answer = Awaited<ReturnType<Parameters<typeof createFakeGate>[0]>>;
    let writes: PromiseWithResolvers<Answer>[];
    let gate: ReturnType<typeof createFakeGate>;
    beforeEach(() => {
      writes = [];
      gate = createFakeGate(() => {
        const write = Promise.withResolvers<Answer>();
        writes.push(write);
        return write.promise;
      });
      platform = createTestPlatform(database, { gate, gateWaitMs: 20 });
    });
    const whitelisted: Answer = { status: 'whitelisted', whitelistedAt: confirmedAt };
    const onboard = async (session: Awaited<ReturnType<typeof registered>>) =>
      (await session.onboard(a.walletPub, a.encryptionPublicKey)).readiness;
    const readiness = async (session: Awaited<ReturnType<typeof registered>>) =>
      (await session.getEnrollment()).readiness;

    it('asks the gate at every onboard and at no read [readiness.repost-drives-pending, readiness.read-drives-nothing]', async () => {
      const session = await registered(a);
      await onboard(session);
      for (let i = 0; i < 3; i += 1) {
        expect(await readiness(session)).toBe('eligibility_pending');
      }
      expect(gate.asked).toHaveLength(1);
      expect(await onboard(session)).toBe('eligibility_pending');
      expect(gate.asked).toHaveLength(2);
      writes[1]?.resolve(whitelisted);
      await expect.poll(() => readiness(session)).toBe('ready');
      expect(await onboard(session)).toBe('eligibility_pending');
      expect(gate.asked).toHaveLength(3);
      // That write is in progress; meanwhile the wallet stays ready.
      expect(await readiness(session)).toBe('ready');
    });

    it('is pending again while a failed confirmation is repeated', async () => {
      const session = await registered(a);
      await onboard(session);
      writes[0]?.reject(new Error('gate went away'));
      await expect.poll(() => readiness(session)).toBe('eligibility_failed');
      expect(await onboard(session)).toBe('eligibility_pending');
      expect(await readiness(session)).toBe('eligibility_pending');
    });

    it('keeps the result of a later write when an earlier write fails or is answered late [readiness.repost-drives-pending]', async () => {
      const session = await registered(a);
      await onboard(session);
      await onboard(session);
      await onboard(session);
      writes[1]?.resolve(whitelisted);
      await expect.poll(() => readiness(session)).toBe('ready');
      writes[0]?.resolve({ status: 'denied' });
      writes[2]?.reject(new Error('too slow'));
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(await readiness(session)).toBe('ready');
    });

    it('does not report a wallet as failed while a later write is in progress', async () => {
      const session = await registered(a);
      await onboard(session);
      await onboard(session);
      writes[0]?.reject(new Error('too slow'));
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(await readiness(session)).toBe('eligibility_pending');
    });

    it('reports the time of confirmation together with ready only [enrol.response]', async () => {
      const session = await registered(a);
      await onboard(session);
      writes[0]?.resolve(whitelisted);
      await expect.poll(() => readiness(session)).toBe('ready');
      const again = await session.onboard(a.walletPub, a.encryptionPublicKey);
      expect(again.readiness).toBe('eligibility_pending');
      expect(again).not.toHaveProperty('eligibilityWhitelistedAt');
      const failing = createFakeGate(() => Promise.reject(new Error('gone')));
      platform = createTestPlatform(database, { gate: failing });
      const later = await registered(a);
      const failed = await later.onboard(a.walletPub, a.encryptionPublicKey);
      expect(failed.readiness).toBe('eligibility_failed');
      expect(failed).not.toHaveProperty('eligibilityWhitelistedAt');
      expect(await later.getEnrollment()).toMatchObject({
        readiness: 'ready',
        eligibilityWhitelistedAt: confirmedAt,
      });
    });

    it('does not report a wallet as ready after a later write was denied', async () => {
      platform = createTestPlatform(database, { gate, gateWaitMs: 5_000 });
      const session = await registered(a);
      const first = onboard(session);
      await expect.poll(() => writes.length).toBe(1);
      const second = onboard(session);
      await expect.poll(() => writes.length).toBe(2);
      writes[1]?.resolve({ status: 'denied' });
      expect(await second).toBe('eligibility_failed');
      writes[0]?.resolve(whitelisted);
      expect(await first).toBe('eligibility_failed');
    });

    it('removes the readiness of a wallet that screening denies later', async () => {
      const session = await registered(a);
      await onboard(session);
      writes[0]?.resolve(whitelisted);
      await expect.poll(() => readiness(session)).toBe('ready');
      await onboard(session);
      writes[1]?.resolve({ status: 'denied' });
      await expect.poll(() => readiness(session)).toBe('eligibility_failed');
      expect((await session.getEnrollment()).eligibilityWhitelistedAt).toBeUndefined();
    });
  });
});
