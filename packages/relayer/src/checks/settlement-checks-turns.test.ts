import { describe, expect, it } from 'vitest';
import { createTurns, type TurnLimits } from './settlement-checks.ts';

/** Work that a test ends, one after the other. */
function open(limits: Partial<TurnLimits> = {}) {
  const turns = createTurns(limits);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  function add(name: string): Promise<string> {
    const [caller = ''] = name;
    return turns.run(caller, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
      return name;
    });
  }
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  async function endOne(): Promise<void> {
    await settle();
    ends.shift()?.();
    await settle();
  }
  return { turns, begun, add, endOne, settle };
}

describe('turns', () => {
  it('rotate, so that a caller who asks often does not delay the others', async () => {
    const { begun, add, endOne } = open();
    const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'].map(add);
    for (let times = 0; times < all.length; times += 1) await endOne();
    expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']);
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  it('give each caller one place at a time, and several callers a place each', async () => {
    const { begun, add, endOne, settle } = open({ atOnce: 2 });
    const all = ['a1', 'a2', 'b1', 'c1'].map(add);
    await settle();
    expect(begun).toEqual(['a1', 'b1']);
    await endOne();
    expect(begun).toEqual(['a1', 'b1', 'a2']);
    for (let times = 0; times < 3; times += 1) await endOne();
    await Promise.all(all);
    expect(begun).toEqual(['a1', 'b1', 'a2', 'c1']);
  });

  it('refuse a caller with too many waiting, and every caller when too many wait', async () => {
    const { add, endOne } = open({ maxWaiting: 3, maxWaitingOfCaller: 2 });
    const all = ['a1', 'a2', 'a3'].map(add);
    await expect(add('a4')).rejects.toMatchObject({
      code: 'rate_limited',
      status: 429,
      details: { retryAfterSeconds: 1 },
    });
    all.push(add('b1'));
    await expect(add('b2')).rejects.toMatchObject({
      code: 'verifier_unavailable',
      status: 503,
      retryable: true,
    });
    for (let times = 0; times < 4; times += 1) await endOne();
    expect(await Promise.all(all)).toHaveLength(4);
  });

  it('take the last place of the longest line when all are taken, so that full lines close nobody out', async () => {
    const { add, begun, endOne, settle } = open({ maxWaiting: 4, maxWaitingOfCaller: 4 });
    const [first, ...waiting] = ['a1', 'a2', 'a3', 'a4', 'a5'].map(add);
    await settle();
    const refused = expect(waiting[3]).rejects.toMatchObject({ code: 'verifier_unavailable' });
    const honest = [add('b1')];
    await refused;
    honest.push(add('c1'));
    await expect(waiting[2]).rejects.toMatchObject({ code: 'verifier_unavailable' });
    // Two each would be left: the one who asks has as many.
    await expect(add('b2')).rejects.toMatchObject({ code: 'verifier_unavailable' });
    // Somebody who has none yet gets the last one of two.
    honest.push(add('d1'));
    await expect(waiting[1]).rejects.toMatchObject({ code: 'verifier_unavailable' });
    for (let times = 0; times < 5; times += 1) await endOne();
    await Promise.all([first, waiting[0], ...honest]);
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'd1']);
  });

  it('refuse a caller who waited too long, and free its place', async () => {
    const { begun, add, endOne } = open({ maxWaiting: 1, waitMs: 10 });
    const first = add('a1');
    await expect(add('b1')).rejects.toMatchObject({ code: 'verifier_unavailable', status: 503 });
    await expect(add('b2')).rejects.toMatchObject({ code: 'verifier_unavailable', status: 503 });
    await endOne();
    await first;
    const next = add('c1');
    await endOne();
    await next;
    expect(begun).toEqual(['a1', 'c1']);
  });

  it('continue after work that failed', async () => {
    const { turns, add, endOne } = open();
    const failed = turns.run('a', () => Promise.reject(new Error('failed')));
    const next = add('b1');
    await expect(failed).rejects.toThrow('failed');
    await endOne();
    expect(await next).toBe('b1');
  });
});
