import { Secret } from '@pool/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../fixtures/test-database.ts';
import { createLog } from '../log.ts';
import { createControlApp } from './control.ts';

describe('createControlApp', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    await database.db
      .insertInto('indexer_cursors')
      .values({ chain: 'anvil', block_number: 7, block_hash: '0x07', halted: 'a root differs' })
      .execute();
  });

  async function resume(chain: string, token = 'operator'): Promise<[number, unknown]> {
    const log = createLog('silent', 'test');
    const deps = { db: database.db, log, nowMs: Date.now };
    const response = await createControlApp(deps, new Secret('operator')).request(
      'http://127.0.0.1/indexer/resume',
      {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ chain }),
      },
    );
    return [response.status, await response.json()];
  }
  const cursor = () =>
    database.db.selectFrom('indexer_cursors').selectAll().executeTakeFirstOrThrow();

  it('lifts the halt of one chain, says what it was for, and keeps the position', async () => {
    expect(await resume('base')).toEqual([200, { resumed: false }]);
    expect((await cursor()).halted).toBe('a root differs');
    expect(await resume('anvil')).toEqual([200, { resumed: true, reason: 'a root differs' }]);
    expect(await cursor()).toMatchObject({ block_number: 7, block_hash: '0x07', halted: null });
    expect(await resume('anvil')).toEqual([200, { resumed: false }]);
  });

  it('listens to the operator alone', async () => {
    expect((await resume('anvil', 'guess'))[0]).toBe(401);
    expect((await cursor()).halted).toBe('a root differs');
  });
});
