/** Which transactions count as coin of the relayer: those of the chain and of the last 24 hours that can cost something. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../database/test/test-database.ts';
import { readTotalUse } from './relayer-total.ts';

const nowMs = Date.parse('2026-11-21T10:00:00Z');
const gwei = 10n ** 9n;
const dayMs = 86_400_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());
beforeEach(() => database.reset());

it.each([
  ['of the last day', {}, 100_000],
  ['of less than 24 hours ago', { created_at: new Date(nowMs - dayMs + 1).toISOString() }, 100_000],
  ['of 24 hours ago', { created_at: new Date(nowMs - dayMs).toISOString() }, 0],
  ['of another chain', { chain: 'base' }, 0],
  ['whose nonce another one took', { state: 'dropped' as const }, 0],
  [
    'that was reverted, with the gas it used',
    { state: 'reverted' as const, gas_used: 70_000 },
    70_000,
  ],
  ['at three gwei', { max_fee_wei: (3n * gwei).toString() }, 300_000],
])('counts a transaction %s', async (_name, row, usedGwei) => {
  const { db } = database;
  const made = { chain: 'anvil', created_at: new Date(nowMs).toISOString() };
  await db
    .insertInto('employers')
    .values({ id: 'e', address: '0xE', name: null, created_at: made.created_at })
    .execute();
  const { id } = await db
    .insertInto('submissions')
    .values({
      ...{ ...made, kind: 'spend', owner: '0xE', key: 'k', token: '0xT', deadline: 0 },
      ...{ root: '0x1', first_nullifier: '0x1', sealed_notes_hash: '0x' },
      ...{ request: '{}', state: 'submitted' },
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await db
    .insertInto('relayer_transactions')
    .values({
      ...{
        ...made,
        submission_id: id,
        sender: '0xR',
        nonce: 1,
        tx_hash: '0x1',
        raw_transaction: '0x',
      },
      ...{ purpose: 'spend', state: 'open', gas_limit: 100_000, gas_used: null },
      ...{ max_fee_wei: gwei.toString(), ...row },
    })
    .execute();
  const use = await readTotalUse(db, 'anvil', { dailyWei: gwei, feeWei: gwei }, nowMs);
  expect(use.usedGwei).toBe(usedGwei);
});
