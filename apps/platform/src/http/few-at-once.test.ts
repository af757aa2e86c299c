/** How many requests of a busy route read at once, and how many are answered in one turn of the event loop. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createFewAtOnce } from './few-at-once.ts';

async function pass(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await nextTurn();
}

describe('createFewAtOnce', () => {
  it('does not hold the others while a query of one is slow', async () => {
    const fewAtOnce = createFewAtOnce(2);
    const slow = Promise.withResolvers<() => string>();
    const first = fewAtOnce(() => slow.promise);
    const others = ['b', 'c', 'd'].map((name) => fewAtOnce(() => Promise.resolve(() => name)));
    expect(await Promise.all(others)).toEqual(['b', 'c', 'd']);
    slow.resolve(() => 'a');
    expect(await first).toBe('a');
  });

  it('lets a few read at once, and the others after them, also after a refusal', async () => {
    const fewAtOnce = createFewAtOnce(2);
    const ends: ((error?: Error) => void)[] = [];
    const all = Array.from({ length: 5 }, () =>
      fewAtOnce(() => {
        const { promise, resolve, reject } = Promise.withResolvers<() => undefined>();
        ends.push((error) => (error === undefined ? resolve(() => undefined) : reject(error)));
        return promise;
      }).catch((error: unknown) => error),
    );
    await pass(20);
    expect(ends.length).toBe(2);
    const refusal = new Error('refused');
    ends[0]?.(refusal);
    await pass(20);
    expect(ends.length).toBe(3);
    for (let one = 1; one < 5; one += 1) {
      ends[one]?.();
      await pass(20);
    }
    expect(await Promise.all(all)).toEqual([refusal, ...Array(4).fill(undefined)]);
  });

  it.each(['answers', 'refuses'])(
    '%s at most one request in a turn of the event loop',
    async (how) => {
      const fewAtOnce = createFewAtOnce(8);
      const turns: number[] = [];
      let turn = 0;
      let isDone = false;
      const counting = (async () => {
        while (!isDone) {
          turn += 1;
          await nextTurn();
        }
      })();
      const query = Promise.withResolvers<undefined>();
      const all = Array.from({ length: 8 }, () =>
        fewAtOnce(async () => {
          await query.promise;
          if (how === 'refuses') throw new Error('refused');
          return () => undefined;
        })
          .catch(() => undefined)
          .then(() => turns.push(turn)),
      );
      await pass(30);
      // All of them continue at the same moment.
      query.resolve(undefined);
      await Promise.all(all);
      isDone = true;
      await counting;
      expect(new Set(turns).size).toBe(8);
    },
  );
});
