// A line for strangers, none for keys that have proved themselves; no acceptance is remembered.
import type { VerifiedKey } from '@pool/api';
import { PoolError, parseEvmAddress } from '@pool/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createKeyGate, hashOf, maxWaiting } from './key-gate.ts';

const address = parseEvmAddress('0x5fbdb2315678afecb367f032d93f642f64180aa3');
const good: VerifiedKey = {
  valid: true,
  capability: 'disburse',
  employerId: '5b1d1f0e-6f55-4d3a-9d53-6f1f2c1a7e01',
  address,
  keyId: 1,
};

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A platform that takes its time, and what it sees. */
function createWorld(takesMs = 20) {
  const valid = new Set<string>();
  const admitted = new Set<string>();
  const seen = { asked: [] as { key: string; atMs: number }[], now: 0, most: 0, isDown: false };
  const gate = createKeyGate({
    verifier: {
      async verify(key) {
        seen.asked.push({ key, atMs: performance.now() });
        seen.now += 1;
        seen.most = Math.max(seen.most, seen.now);
        await new Promise((resolve) => setTimeout(resolve, takesMs));
        seen.now -= 1;
        if (seen.isDown) {
          throw new PoolError('verification_unavailable', 'down', { status: 503 });
        }
        return valid.has(key) ? good : { valid: false };
      },
    },
    isAdmitted: (hash) => admitted.has(hash),
    nowMs: () => performance.now(),
  });
  const askedAbout = (key: string): number => seen.asked.filter((one) => one.key === key).length;
  /** Answer, and how long it took. */
  async function time(key: string): Promise<{ answer: unknown; ms: number }> {
    const startedMs = performance.now();
    const answer = await gate.verify(key).catch((error: unknown) => error);
    return { answer, ms: performance.now() - startedMs };
  }
  /** Callers who each send another made-up key as soon as the last was answered, for so long. */
  function flood(callers: number, forMs: number): { readonly ended: Promise<unknown> } {
    const untilMs = performance.now() + forMs;
    async function send(caller: number): Promise<void> {
      for (let turn = 0; performance.now() < untilMs; turn += 1) {
        await gate.verify(`made up ${caller} ${turn}`).catch(() => undefined);
      }
    }
    return { ended: Promise.all(Array.from({ length: callers }, (_, caller) => send(caller))) };
  }
  return { gate, valid, admitted, seen, askedAbout, time, flood };
}

describe('a flood of made-up keys', () => {
  it('keeps the first call of a good key for a bounded time, and refuses it never', async () => {
    const { valid, time, flood } = createWorld();
    valid.add('good');
    flood(maxWaiting - 1, 30_000);
    await vi.advanceTimersByTimeAsync(10_000);
    const first = time('good');
    await vi.advanceTimersByTimeAsync(6_000);
    const { answer, ms } = await first;
    expect(answer).toEqual(good);
    expect(ms).toBeLessThan(5_500);
  });

  it('asks the platform little', async () => {
    const { seen, flood } = createWorld(1);
    flood(500, 10_000);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(seen.most).toBeLessThanOrEqual(8);
    expect(seen.asked.length).toBeGreaterThan(900);
    expect(seen.asked.length).toBeLessThanOrEqual(1_008);
  });

  it('does not touch a key that has authenticated before', async () => {
    const { valid, admitted, time, flood } = createWorld(20);
    valid.add('good');
    admitted.add(hashOf('good'));
    flood(500, 10_000);
    await vi.advanceTimersByTimeAsync(1_000);
    const call = time('good');
    await vi.advanceTimersByTimeAsync(100);
    expect(await call).toEqual({ answer: good, ms: 20 });
  });

  it('of a caller who was gone before he got into the line is not in it', async () => {
    const { gate, time, askedAbout } = createWorld(20);
    for (let index = 0; index < 8; index += 1) void time(`made up ${index}`);
    const gone = gate.verify('gone', AbortSignal.abort()).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await gone).toMatchObject({ code: 'rate_limited' });
    expect(askedAbout('gone')).toBe(0);
  });

  it('of callers who hang up leaves no trace in the line', async () => {
    const { gate, valid, time, askedAbout } = createWorld();
    valid.add('good');
    for (let index = 0; index < 2_000; index += 1) {
      const hangUp = new AbortController();
      const call = gate.verify(`made up ${index}`, hangUp.signal).catch(() => undefined);
      hangUp.abort();
      await Promise.race([call, Promise.resolve()]);
    }
    const first = time('good');
    await vi.advanceTimersByTimeAsync(200);
    expect(await first).toMatchObject({ answer: good, ms: expect.closeTo(100, -1) });
    expect(askedAbout('made up 1000')).toBe(0);
  });
});

describe('a key', () => {
  it('that was refused is not asked about for a second, and then again', async () => {
    const { time, valid, askedAbout } = createWorld(0);
    const ask = async (key: string) => {
      const call = time(key);
      await vi.advanceTimersByTimeAsync(0);
      return (await call).answer;
    };
    expect(await ask('late')).toEqual({ valid: false });
    valid.add('late');
    await vi.advanceTimersByTimeAsync(998);
    expect(await ask('late')).toEqual({ valid: false });
    expect(askedAbout('late')).toBe(1);
    await vi.advanceTimersByTimeAsync(2);
    expect(await ask('late')).toEqual(good);
    // And the acceptance is asked for every time.
    expect(await ask('late')).toEqual(good);
    expect(askedAbout('late')).toBe(3);
    valid.delete('late');
    expect(await ask('late')).toEqual({ valid: false });
  });

  it('that was never seen is asked about at once', async () => {
    const { time, valid } = createWorld(20);
    valid.add('minted a moment ago');
    const call = time('minted a moment ago');
    await vi.advanceTimersByTimeAsync(20);
    expect(await call).toEqual({ answer: good, ms: 20 });
  });

  it('sent many times at once, made up, is asked about by the first few only', async () => {
    const { gate, askedAbout } = createWorld(20);
    const calls = Array.from({ length: 300 }, () => gate.verify('one'));
    await vi.advanceTimersByTimeAsync(500);
    expect((await Promise.all(calls)).every(({ valid }) => !valid)).toBe(true);
    expect(askedAbout('one')).toBe(8);
  });

  it('whose verification failed is neither refused nor remembered, and gives its place back', async () => {
    const { time, seen, valid } = createWorld(20);
    valid.add('good');
    seen.isDown = true;
    const down = Array.from({ length: 20 }, () => time('good'));
    await vi.advanceTimersByTimeAsync(1_000);
    for (const { answer } of await Promise.all(down)) {
      expect(answer).toMatchObject({ code: 'verification_unavailable' });
    }
    seen.isDown = false;
    const call = time('good');
    await vi.advanceTimersByTimeAsync(20);
    expect(await call).toEqual({ answer: good, ms: 20 });
  });
});

describe('the line', () => {
  const busy = { code: 'rate_limited', status: 429, details: { retryAfterSeconds: 1 } };

  it('has an end: one too many is told when to come back', async () => {
    const { time } = createWorld(20);
    for (let index = 0; index < 8 + maxWaiting; index += 1) {
      void time(`made up ${index}`);
    }
    const { answer, ms } = await time('one more');
    expect([answer, ms]).toEqual([expect.objectContaining(busy), 0]);
    await vi.advanceTimersByTimeAsync(20_000);
  });

  it('is left after ten seconds when the platform hardly answers', async () => {
    const { time } = createWorld(60_000);
    const calls = Array.from({ length: 9 }, (_, index) => time(`made up ${index}`));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await calls[8]).toEqual({ answer: expect.objectContaining(busy), ms: 10_000 });
    await vi.advanceTimersByTimeAsync(60_000);
  });
});
