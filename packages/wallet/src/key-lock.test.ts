// First come, first served; a waiter that gives up does not block others.
import { describe, expect, it } from 'vitest';
import { createKeyLock } from './key-lock.ts';

const never = new AbortController().signal;

describe('createKeyLock', () => {
  it('admits one holder per name, in order', async () => {
    const lock = createKeyLock();
    const seen: string[] = [];
    const first = await lock.acquire('a', never);
    const second = lock.acquire('a', never).then((release) => {
      seen.push('second');
      return release;
    });
    const third = lock.acquire('a', never).then((release) => {
      seen.push('third');
      return release;
    });
    (await lock.acquire('b', never))();
    expect(seen).toEqual([]);
    first();
    (await second)();
    (await third)();
    expect(seen).toEqual(['second', 'third']);
  });

  it('continues after a waiter gives up, and after a second release', async () => {
    const lock = createKeyLock();
    const first = await lock.acquire('a', never);
    const giving = new AbortController();
    const given = lock.acquire('a', giving.signal);
    const last = lock.acquire('a', never);
    giving.abort(new Error('gone'));
    await expect(given).rejects.toThrow('gone');
    first();
    first();
    (await last)();
    (await lock.acquire('a', never))();
  });
});
