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

describe('rotate-encryption-key', () => {
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

  async function registered(holder: TestHolder) {
    const session = await platform.signIn(holder);
    await session.register();
    return session;
  }

  /** The wallet of a with the viewing key of another. */
  const withKeyOf = (other: TestHolder): TestHolder => ({
    ...a,
    encryptionPublicKey: other.encryptionPublicKey,
  });
  let c: TestHolder;
  beforeAll(async () => {
    c = await createTestHolder('c');
  });
  async function enrolled(holder: TestHolder) {
    const session = await registered(holder);
    await session.onboard(holder.walletPub, holder.encryptionPublicKey);
    return session;
  }
  const subjectOf = (holder: TestHolder) =>
    database.db
      .selectFrom('subjects')
      .selectAll()
      .where('address', '=', holder.address)
      .executeTakeFirstOrThrow();

  it('registers the new key with its evidence, keeps readiness, and accepts a repetition [rotate.changes-p]', async () => {
    await enrolled(a);
    const session = await platform.signIn(withKeyOf(b));
    const rotate = () =>
      session.rotateEncryptionKey(a.walletPub, a.encryptionPublicKey, b.encryptionPublicKey);
    const answer = {
      success: true,
      walletPub: a.walletPub,
      encryptionPublicKey: b.encryptionPublicKey,
      readiness: 'ready',
      eligibilityWhitelistedAt: confirmedAt,
    };
    expect(await rotate()).toEqual({ rotated: true, ...answer });
    const stored = await subjectOf(a);
    expect(stored.evidence_message).toContain(b.encryptionPublicKey);
    expect(stored.evidence_signature).toBe(await a.wallet.signMessage(stored.evidence_message));
    expect(await rotate()).toEqual({ rotated: false, ...answer });
    // A session whose text lists no key may do it too, because nothing is registered.
    const other = await platform.signIn(a, false);
    expect(
      await other.rotateEncryptionKey(a.walletPub, a.encryptionPublicKey, b.encryptionPublicKey),
    ).toEqual({ rotated: false, ...answer });
    expect(await subjectOf(a)).toEqual(stored);
    expect(await session.onboard(a.walletPub, b.encryptionPublicKey)).toMatchObject({
      created: false,
      readiness: 'ready',
    });
    await expect(session.onboard(a.walletPub, a.encryptionPublicKey)).rejects.toMatchObject({
      code: 'use_rotate',
    });
  });

  it('does not call the gate, because the gate stores W only', async () => {
    await enrolled(a);
    const before = whitelisting.asked.length;
    const session = await platform.signIn(withKeyOf(b));
    await session.rotateEncryptionKey(a.walletPub, a.encryptionPublicKey, b.encryptionPublicKey);
    expect(whitelisting.asked).toHaveLength(before);
  });

  it('requires a sign-in that lists the new key [rotate.names-current]', async () => {
    const session = await enrolled(a);
    await expect(
      session.rotateEncryptionKey(a.walletPub, a.encryptionPublicKey, b.encryptionPublicKey),
    ).rejects.toMatchObject({
      code: 'evidence_required',
      status: 409,
      message: expect.stringContaining(`urn:pool:encryption-key:${b.encryptionPublicKey}`),
    });
    expect((await subjectOf(a)).encryption_public_key).toBe(a.encryptionPublicKey);
  });

  it('requires the current key and the session’s wallet in the request [rotate.names-current]', async () => {
    await enrolled(a);
    const session = await platform.signIn(withKeyOf(b));
    await expect(
      session.rotateEncryptionKey(a.walletPub, c.encryptionPublicKey, b.encryptionPublicKey),
    ).rejects.toMatchObject({ code: 'encryption_key_mismatch', status: 409 });
    await expect(
      session.rotateEncryptionKey(b.walletPub, a.encryptionPublicKey, b.encryptionPublicKey),
    ).rejects.toMatchObject({ code: 'wallet_mismatch', status: 403 });
    const bad = `0x${'f'.repeat(64)}`;
    for (const [current, next] of [
      [bad, b.encryptionPublicKey],
      [a.encryptionPublicKey, bad],
    ] as const) {
      await expect(session.rotateEncryptionKey(a.walletPub, current, next)).rejects.toMatchObject({
        code: 'invalid_encryption_key',
        status: 400,
      });
    }
    expect((await subjectOf(a)).encryption_public_key).toBe(a.encryptionPublicKey);
  });

  it('requires an employer account and an enrolment first', async () => {
    const session = await platform.signIn(withKeyOf(b));
    const rotate = () =>
      session.rotateEncryptionKey(a.walletPub, a.encryptionPublicKey, b.encryptionPublicKey);
    await expect(rotate()).rejects.toMatchObject({ code: 'employer_not_found', status: 409 });
    await session.register();
    await expect(rotate()).rejects.toMatchObject({ code: 'not_enrolled', status: 409 });
  });

  it('refuses a key that another wallet has or had', async () => {
    await enrolled(a);
    await enrolled(b);
    const session = await platform.signIn(withKeyOf(b));
    await expect(
      session.rotateEncryptionKey(a.walletPub, a.encryptionPublicKey, b.encryptionPublicKey),
    ).rejects.toMatchObject({ code: 'encryption_key_taken', status: 409 });
    // The wallet of b rotates to another key; the notes sealed to the old one still belong to it.
    const leaving = await platform.signIn({
      ...b,
      encryptionPublicKey: c.encryptionPublicKey,
    });
    await leaving.rotateEncryptionKey(b.walletPub, b.encryptionPublicKey, c.encryptionPublicKey);
    await expect(
      session.rotateEncryptionKey(a.walletPub, a.encryptionPublicKey, b.encryptionPublicKey),
    ).rejects.toMatchObject({ code: 'encryption_key_taken' });
    expect((await subjectOf(a)).encryption_public_key).toBe(a.encryptionPublicKey);
    const newcomer = { ...(await createTestHolder('d')) };
    const thief = await registered({ ...newcomer, encryptionPublicKey: b.encryptionPublicKey });
    await expect(thief.onboard(newcomer.walletPub, b.encryptionPublicKey)).rejects.toMatchObject({
      code: 'encryption_key_taken',
    });
    expect((await thief.getEnrollment()).readiness).toBe('not_enrolled');
    // The wallet itself may register it again.
    const back = await platform.signIn(b);
    expect(
      await back.rotateEncryptionKey(b.walletPub, c.encryptionPublicKey, b.encryptionPublicKey),
    ).toMatchObject({ rotated: true });
  });

  it('refuses a rotation back by an older session', async () => {
    const old = await enrolled(a);
    platform.clock.nowMs += 1_000;
    const session = await platform.signIn(withKeyOf(b));
    await session.rotateEncryptionKey(a.walletPub, a.encryptionPublicKey, b.encryptionPublicKey);
    await expect(
      old.rotateEncryptionKey(a.walletPub, b.encryptionPublicKey, a.encryptionPublicKey),
    ).rejects.toMatchObject({ code: 'evidence_required', status: 409 });
  });

  it('requires a text newer than the registered one, because agents believe the first of two texts of the same instant [rotate.names-current]', async () => {
    const at = (nowMs: number, holder: TestHolder) => platform.signInAt(nowMs, holder);
    const { nowMs } = platform.clock;
    const first = await at(nowMs, a);
    await first.register();
    await first.onboard(a.walletPub, a.encryptionPublicKey);
    for (const [time, outcome] of [
      [nowMs - 1, 'evidence_required'],
      [nowMs, 'evidence_required'],
      [nowMs + 1, undefined],
    ] as const) {
      const session = await at(time, withKeyOf(b));
      const rotation = session.rotateEncryptionKey(
        a.walletPub,
        a.encryptionPublicKey,
        b.encryptionPublicKey,
      );
      const code = await rotation.then(() => undefined, errorCodeOf);
      expect([time - nowMs, code]).toEqual([time - nowMs, outcome]);
    }
  });

  it('accepts one of two concurrent rotations from the same key', async () => {
    await enrolled(a);
    const rotateTo = async (to: TestHolder) => {
      const session = await platform.signIn(withKeyOf(to));
      return () =>
        session.rotateEncryptionKey(a.walletPub, a.encryptionPublicKey, to.encryptionPublicKey);
    };
    const rotations = [await rotateTo(b), await rotateTo(c)];
    const outcomes = await Promise.allSettled(rotations.map((rotate) => rotate()));
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.map(({ reason }) => errorCodeOf(reason))).toEqual(['encryption_key_mismatch']);
  });

  it('accepts one of two concurrent rotations of different wallets to the same key', async () => {
    await enrolled(a);
    await enrolled(b);
    const rotateOf = async (holder: TestHolder) => {
      const session = await platform.signIn({
        ...holder,
        encryptionPublicKey: c.encryptionPublicKey,
      });
      return () =>
        session.rotateEncryptionKey(
          holder.walletPub,
          holder.encryptionPublicKey,
          c.encryptionPublicKey,
        );
    };
    const rotations = [await rotateOf(a), await rotateOf(b)];
    const outcomes = await Promise.allSettled(rotations.map((rotate) => rotate()));
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.map(({ reason }) => errorCodeOf(reason))).toEqual(['encryption_key_taken']);
  });

  it('requires a session', async () => {
    await expect(
      platform
        .session()
        .rotateEncryptionKey(a.walletPub, a.encryptionPublicKey, b.encryptionPublicKey),
    ).rejects.toMatchObject({ code: 'unauthorized', status: 401 });
  });
});
