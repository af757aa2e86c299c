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
    // 10 s of refill are in the bucket, and each second of the test adds a tenth of it.
    const began = performance.now();
    const count = await takeAll([open(40, 400), open(40, 400)]);
    expect(count).toBeGreaterThan(380);
    expect(count).toBeLessThan(402 + (40 * (performance.now() - began)) / 1_000);
  });

  it('asks the row once for the calls of a process that come together', async () => {
    const limiter = open(40, 400);
    await Promise.all(Array.from({ length: 40 }, () => limiter.take('a')));
    // The row has given no more than the 40.
    await open(40, 400).take('a', 350);
  });

  it('keeps what it has when a dearer call is refused', async () => {
    const limiter = open(8, 800);
    await limiter.take('a');
    await open(8, 800).take('a', 798);
    await expect(limiter.take('a', 80)).rejects.toMatchObject({ code: 'rate_limited' });
    await limiter.take('a');
  });

  it('says when the next call may come, and lets it through then', async () => {
    const began = performance.now();
    /** Less what was refilled since the test began, in whole seconds. */
    const expectWait = async (taken: Promise<void>, seconds: number): Promise<void> => {
      const refusal = await taken.catch((error: unknown) => error);
      const elapsed = (performance.now() - began) / 1_000;
      expect(refusal).toMatchObject({ details: { retryAfterSeconds: expect.any(Number) } });
      const { details } = refusal as { details: { retryAfterSeconds: number } };
      expect(details.retryAfterSeconds).toBeLessThanOrEqual(seconds);
      expect(details.retryAfterSeconds).toBeGreaterThanOrEqual(seconds - elapsed);
    };
    const limiter = open(0.001, 4);
    await limiter.take('a', 4);
    await expectWait(limiter.take('a', 4), 4_000);
    const fast = open(8, 4);
    await fast.take('b', 4);
    await expect
      .poll(() =>
        fast.take('b', 4).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    // A dearer call was refused: it costs no statement while it cannot come through, and a cheaper one is not refused with it.
    const slow = open(0.001, 4);
    await slow.take('c', 3);
    await expectWait(slow.take('c', 2), 1_000);
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
