/** How long a process waits for the index that another one leads. */

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../database/test/test-database.ts';
import { waitUntilIndexed } from './served-batches.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());
beforeEach(() => database.reset());

it('waits until the index has the block', async () => {
  const { db } = database;
  await db
    .insertInto('indexer_cursors')
    .values({ chain: 'devnet', block_number: 5, block_hash: '0x1' })
    .execute();
  await waitUntilIndexed(db, 'devnet', 5, 600_000);
  let isOver = false;
  const waiting = waitUntilIndexed(db, 'devnet', 7, 600_000).then(() => {
    isOver = true;
  });
  const advance = (block_number: number) =>
    db.updateTable('indexer_cursors').set({ block_number }).execute();
  await advance(6);
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(isOver).toBe(false);
  await advance(7);
  await waiting;
});

it('gives up at a halt, and after its time', async () => {
  const { db } = database;
  await waitUntilIndexed(db, 'devnet', 5, 150);
  await db
    .insertInto('indexer_cursors')
    .values({ chain: 'devnet', block_number: 0, block_hash: '', halted: 'wrong' })
    .execute();
  await waitUntilIndexed(db, 'devnet', 5, 600_000);
});
