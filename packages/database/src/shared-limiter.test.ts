/** One limit over several processes, on the embedded database and on a server. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../test/test-database.ts';
import { createSharedLimiter, forgetFullBuckets, type SharedLimiter } from './shared-limiter.ts';

describe('a limit that processes share', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());
  beforeEach(() => database.reset());

  const open = (perSecond: number, burst: number) =>
    createSharedLimiter(database.db, { name: 'calls', perSecond, burst });

  /** Calls of all processes at once, until each was refused. */
  async function takeAll(limiters: readonly SharedLimiter[], cost = 1): Promise<number> {
    const taken = await Promise.all(
      limiters.map(async (limiter) => {
        for (let count = 0; ; count += 1) {
          try {
            await limiter.take('a', cost);
          } catch (error) {
            expect(error).toMatchObject({ code: 'rate_limited', status: 429 });
            return count;
          }
        }
      }),
    );
    return taken.reduce((sum, count) => sum + count, 0);
  }

  it('lets a burst through once, however many processes are called', async () => {
    const limiters = [open(0.001, 10), open(0.001, 10), open(0.001, 10)];
    expect(await takeAll(limiters)).toBe(10);
    await open(0.001, 10).take('b');
    expect(await takeAll([open(0.001, 10)])).toBe(0);
  });

  it('lets no more through where a process takes many calls from the row at once', async () => {
    // 10 s of refill are in the bucket, and a second of the test adds a tenth of it.
    const count = await takeAll([open(40, 400), open(40, 400)]);
    expect(count).toBeGreaterThan(380);
    expect(count).toBeLessThan(480);
  });

  it('says when the next call may come, and lets it through then', async () => {
    const limiter = open(2, 4);
    await limiter.take('a', 4);
    await expect(limiter.take('a', 4)).rejects.toMatchObject({ details: { retryAfterSeconds: 2 } });
    await expect
      .poll(() =>
        limiter.take('a').then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    // A dearer call was refused: it costs no statement while it cannot come through, and a cheaper one is not refused with it.
    const slow = open(0.1, 4);
    await slow.take('c', 3);
    await expect(slow.take('c', 2)).rejects.toMatchObject({ details: { retryAfterSeconds: 10 } });
    await slow.take('c', 1);
  });

  it('gives a call back, tells without taking, and forgets who has a full bucket', async () => {
    const limiter = open(0.001, 1);
    await limiter.assertLeft('a');
    await limiter.take('a');
    await expect(open(0.001, 1).assertLeft('a')).rejects.toMatchObject({ code: 'rate_limited' });
    await forgetFullBuckets(database.db);
    await expect(open(0.001, 1).assertLeft('a')).rejects.toMatchObject({ code: 'rate_limited' });
    await limiter.giveBack('a');
    await open(0.001, 1).assertLeft('a');
    await forgetFullBuckets(database.db);
    const rows = await database.db.selectFrom('rate_limits').selectAll().execute();
    expect(rows).toEqual([]);
    await open(0.001, 1).take('a');
  });
});
