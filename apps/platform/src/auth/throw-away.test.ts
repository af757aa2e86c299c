/** What sign-ins with keys that are used once leave in the database. */
import { errorCodeOf } from '@pool/core';
import { createTestHolder, type TestHolder } from '@pool/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  openTestDatabase,
  type TestDatabase,
} from '../../../../packages/database/test/test-database.ts';
import { chargeCaller } from '../employers/charge-caller.ts';
import { deleteUnusedEmployers, registerEmployer } from '../employers/employers.ts';
import { createTestPlatform, type TestPlatform } from '../fixtures/test-platform.ts';
import { maxThrowAwaySessions } from './sessions.ts';

const dayMs = 86_400_000;

describe('a throw-away sign-in', () => {
  let database: TestDatabase;
  let platform: TestPlatform;
  let a: TestHolder;
  let b: TestHolder;
  beforeAll(async () => {
    database = await openTestDatabase();
    [a, b] = [await createTestHolder('a'), await createTestHolder('b')];
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    platform = createTestPlatform(database);
  });
  const count = async (table: 'sessions' | 'employers') =>
    (await database.db.selectFrom(table).select('address').execute()).length;

  it('ends the oldest of its network address, and no session of a wallet with an account', async () => {
    const customer = await platform.signIn(a);
    await customer.register();
    const { caller } = await database.db
      .selectFrom('sessions')
      .select('caller')
      .executeTakeFirstOrThrow();
    const rows = Array.from({ length: maxThrowAwaySessions + 1 }, (_, index) => ({
      id_hash: `h${index}`,
      address: `0x${index}`,
      wallet_pub: '0xW',
      contract_chain_id: null,
      message: 'm',
      signature: '0x',
      // The first one is the oldest, and of another network address.
      expires_at: new Date(platform.clock.nowMs + 1_000 + index).toISOString(),
      caller: index === 0 ? 'other' : caller,
      has_account: false,
    }));
    await database.db.insertInto('sessions').values(rows).execute();
    await platform.signIn(b);
    expect(await count('sessions')).toBe(maxThrowAwaySessions + 2);
    expect((await customer.getEnrollment()).readiness).toBe('not_enrolled');
    await platform.signIn(b);
    expect(await count('sessions')).toBe(maxThrowAwaySessions + 2);
    const left = await database.db
      .selectFrom('sessions')
      .select('id_hash')
      .where('id_hash', 'in', ['h0', 'h1', 'h2', 'h3'])
      .orderBy('id_hash')
      .execute();
    expect(left.map((row) => row.id_hash)).toEqual(['h0', 'h3']);
  });

  it('opens a limited number of accounts from one network address in a day', async () => {
    const { db } = database;
    const open = (holder: TestHolder, nowMs: number) =>
      registerEmployer(db, holder, undefined, nowMs, 'network').then(
        ({ created }) => created,
        errorCodeOf,
      );
    const { nowMs } = platform.clock;
    for (let i = 0; i < 999; i += 1) {
      await chargeCaller(db, 'account network', 1_000, nowMs, () => new Error('full'));
    }
    expect(await open(a, nowMs)).toBe(true);
    expect(await open(b, nowMs)).toBe('rate_limited');
    expect(await open(a, nowMs)).toBe(false);
    expect(await count('employers')).toBe(1);
    expect(await open(b, nowMs + dayMs)).toBe(true);
  });

  it('leaves an account that is deleted after 30 days without any use', async () => {
    const unused = await platform.signIn(a);
    await unused.register();
    const used = await platform.signIn(b);
    await used.register();
    await used.mintKey('disburse', 'x');
    const after = (days: number) => platform.clock.nowMs + days * dayMs;
    expect(await deleteUnusedEmployers(database.db, after(31))).toBe(0);
    // The sessions are over by then, and the next sign-in deletes them.
    await database.db.deleteFrom('sessions').execute();
    expect(await deleteUnusedEmployers(database.db, after(29))).toBe(0);
    expect(await deleteUnusedEmployers(database.db, after(31))).toBe(1);
    const left = await database.db.selectFrom('employers').select('address').execute();
    expect(left).toEqual([{ address: b.address }]);
  });
});
