/** Sealed notes of spends that nobody posted here, when a node cannot read some of the events. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../database/test/test-database.ts';
import { createLog } from '../../../http-server/src/service/log.ts';
import { createNumberedChain, type NumberedChain } from '../../test/numbered-chain.ts';
import { createIndexer } from './indexer.ts';

const hourMs = 3_600_000;

describe('restoreSpendNotes', () => {
  let database: TestDatabase;
  let fake: NumberedChain;
  let nowMs: number;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.reset();
    fake = createNumberedChain();
    nowMs = Date.parse('2026-11-24T00:00:00Z');
  });

  const pass = () =>
    createIndexer({
      db: database.db,
      chain: fake.chain,
      log: createLog('silent', 'test'),
      nowMs: () => nowMs,
    }).pass();
  /** A spend in each of the blocks from 1 on. */
  function spend(count: number): void {
    for (let block = 1; block <= count; block += 1) fake.fund(block, 'spend');
    fake.state.final = count;
  }
  const restored = async () =>
    (
      await database.db
        .selectFrom('open_leaves')
        .select('leaf_index')
        .orderBy('leaf_index')
        .execute()
    ).map((row) => row.leaf_index);

  it('restores the leaves behind one that cannot be read, which is read again later', async () => {
    spend(4);
    fake.state.unreadable = (block) => block === 1 || block === 3;
    await pass();
    expect(await restored()).toEqual([1, 3]);
    fake.state.unreadable = () => false;
    nowMs += hourMs + 1;
    await pass();
    expect(await restored()).toEqual([0, 1, 2, 3]);
  });

  it('gets past many of them whose reads end late, in passes that stay short', async () => {
    spend(21);
    let asked = 0;
    fake.state.unreadable = (block) => {
      asked += 1;
      nowMs += block < 21 ? 10_000 : 0;
      return block < 21;
    };
    for (let round = 1; round <= 21; round += 1) {
      await pass();
      expect(asked).toBeLessThanOrEqual(2 * round);
    }
    expect(await restored()).toEqual([20]);
  });
});
