/** SIGHUP: new caps at once, a new key when nothing of the old one may still be mined. */
import { Secret } from '@pool/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../database/test/test-database.ts';
import { type ChangingCaps, createRelayerReload } from './reload.ts';

const oldKey = new Secret('0x01');
const newKey = new Secret('0x02');

function addressOf(key: string): string {
  return `account of ${key}`;
}

describe('createRelayerReload', () => {
  let database: TestDatabase;
  let used: string[];
  let refused: string | undefined;
  let lines: unknown[];
  const caps: ChangingCaps = { maxFeePerGas: 5n, maxCostWei: undefined };
  const create = () =>
    createRelayerReload(
      database.db,
      {
        key: 'anvil',
        get relayerAddress() {
          return addressOf(used.at(-1) ?? oldKey.reveal());
        },
        hasRelayerRole: (key) => Promise.resolve(key?.reveal() !== refused),
        useKey(key) {
          used.push(key.reveal());
        },
      },
      caps,
      oldKey,
      { info: () => undefined, warn: hear, error: hear },
    );
  const hear = (fields: unknown) => lines.push(fields);
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    used = [];
    refused = undefined;
    lines = [];
  });

  async function insertOpen(chain: string, sender = addressOf('0x01')): Promise<void> {
    await database.db
      .insertInto('employers')
      .values({ id: chain, address: chain, name: null, created_at: '' })
      .execute();
    const { id } = await database.db
      .insertInto('submissions')
      .values({
        kind: 'spend',
        owner: '0x1',
        key: chain,
        chain,
        token: '0x',
        deadline: 1,
        root: '0x',
        first_nullifier: '0x',
        sealed_notes_hash: '0x',
        request: '{}',
        state: 'submitted',
        created_at: '',
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await database.db
      .insertInto('relayer_transactions')
      .values({
        submission_id: id,
        chain,
        sender,
        nonce: 0,
        tx_hash: chain,
        raw_transaction: '0x',
        purpose: 'spend',
        state: 'open',
        created_at: '',
      })
      .execute();
  }

  it('has the new caps at once, and asks for no pause when the key is the same', async () => {
    const reload = create();
    reload.change({ maxFeePerGas: 7n, maxCostWei: 9n }, new Secret('0x01'));
    expect(caps).toEqual({ maxFeePerGas: 7n, maxCostWei: 9n });
    expect(reload.isWaiting()).toBe(false);
    await reload.apply();
    expect(used).toEqual([]);
    reload.change({ maxFeePerGas: undefined, maxCostWei: undefined }, oldKey);
    expect(caps).toEqual({ maxFeePerGas: undefined, maxCostWei: undefined });
  });

  it('waits with the new key while a transaction of the old one is open, and sends nothing new meanwhile', async () => {
    await insertOpen('anvil');
    await insertOpen('other');
    const reload = create();
    reload.change({}, newKey);
    await reload.apply();
    expect([used, reload.isWaiting()]).toEqual([[], true]);
    await database.db
      .updateTable('relayer_transactions')
      .set({ state: 'succeeded' })
      .where('chain', '=', 'anvil')
      .execute();
    await reload.apply();
    expect([used, reload.isWaiting()]).toEqual([['0x02'], false]);
    await reload.apply();
    expect(used).toEqual(['0x02']);
    // Back to the first key is a change as well.
    reload.change({}, oldKey);
    await reload.apply();
    expect(used).toEqual(['0x02', '0x01']);
  });

  it('says once that a new key waits, and for how many transactions', async () => {
    await insertOpen('anvil');
    const reload = create();
    reload.change({}, newKey);
    await reload.apply();
    await reload.apply();
    expect(lines).toEqual([{ chain: 'anvil', open: 1 }]);
  });

  it('refuses a new key whose account has no role, also while transactions are open, and keeps the old one', async () => {
    await insertOpen('anvil');
    refused = '0x02';
    const reload = create();
    reload.change({}, newKey);
    await reload.apply();
    expect([used, reload.isWaiting()]).toEqual([[], false]);
    expect(lines).toEqual([{ chain: 'anvil', relayer: addressOf('0x01') }]);
    // The same file again, once the account has the role.
    refused = undefined;
    reload.change({}, newKey);
    await database.db.updateTable('relayer_transactions').set({ state: 'succeeded' }).execute();
    await reload.apply();
    expect(used).toEqual(['0x02']);
  });

  it('does not wait for transactions of an account before the old one', async () => {
    await insertOpen('anvil', addressOf('0x00'));
    const reload = create();
    reload.change({}, newKey);
    await reload.apply();
    expect([used, reload.isWaiting()]).toEqual([['0x02'], false]);
  });

  it('keeps the old key when the change is taken back before it took effect', async () => {
    await insertOpen('anvil');
    const reload = create();
    reload.change({}, newKey);
    await reload.apply();
    reload.change({}, oldKey);
    expect(reload.isWaiting()).toBe(false);
    await database.db.updateTable('relayer_transactions').set({ state: 'succeeded' }).execute();
    await reload.apply();
    expect(used).toEqual([]);
  });
});
