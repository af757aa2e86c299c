// New keys wait in a queue, keys that have authenticated do not; no acceptance is remembered.
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

/** A slow platform, and a record of its questions. */
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
          throw new PoolError('verification_unavailable', 'down');
        }
        return valid.has(key) ? good : { valid: false };
      },
    },
    isAdmitted: (hash) => admitted.has(hash),
    nowMs: () => performance.now(),
  });
  const askedAbout = (key: string): number => seen.asked.filter((one) => one.key === key).length;
  /** The answer, and how long it took. */
  async function time(key: string): Promise<{ answer: unknown; ms: number }> {
    const startedMs = performance.now();
    const answer = await gate.verify(key).catch((error: unknown) => error);
    return { answer, ms: performance.now() - startedMs };
  }
  /** Callers that send one made-up key after another for the given time. */
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
  it('delays the first call of a good key for a bounded time, and never refuses it', async () => {
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

  it('asks the platform at a bounded rate', async () => {
    const { seen, flood } = createWorld(1);
    flood(500, 10_000);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(seen.most).toBeLessThanOrEqual(8);
    expect(seen.asked.length).toBeGreaterThan(900);
    expect(seen.asked.length).toBeLessThanOrEqual(1_008);
  });

  it('does not delay a key that has authenticated before', async () => {
    const { valid, admitted, time, flood } = createWorld(20);
    valid.add('good');
    admitted.add(hashOf('good'));
    flood(500, 10_000);
    await vi.advanceTimersByTimeAsync(1_000);
    const call = time('good');
    await vi.advanceTimersByTimeAsync(100);
    expect(await call).toEqual({ answer: good, ms: 20 });
  });

  it('of a caller who disconnected before it queued is not queued', async () => {
    const { gate, time, askedAbout } = createWorld(20);
    for (let index = 0; index < 8; index += 1) void time(`made up ${index}`);
    const gone = gate.verify('gone', AbortSignal.abort()).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await gone).toMatchObject({ code: 'rate_limited' });
    expect(askedAbout('gone')).toBe(0);
  });

  it('of callers who disconnect leaves no trace in the queue', async () => {
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
  it('that was refused is not verified for a second, and then verified again', async () => {
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
    // An acceptance is verified again each time.
    expect(await ask('late')).toEqual(good);
    expect(askedAbout('late')).toBe(3);
    valid.delete('late');
    expect(await ask('late')).toEqual({ valid: false });
  });

  it('that is new is verified at once', async () => {
    const { time, valid } = createWorld(20);
    valid.add('minted a moment ago');
    const call = time('minted a moment ago');
    await vi.advanceTimersByTimeAsync(20);
    expect(await call).toEqual({ answer: good, ms: 20 });
  });

  it('that is made up and sent many times at once is verified for the first few only', async () => {
    const { gate, askedAbout } = createWorld(20);
    const calls = Array.from({ length: 300 }, () => gate.verify('one'));
    await vi.advanceTimersByTimeAsync(500);
    expect((await Promise.all(calls)).every(({ valid }) => !valid)).toBe(true);
    expect(askedAbout('one')).toBe(8);
  });

  it('whose verification failed is neither refused nor remembered, and frees its place', async () => {
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

describe('the queue', () => {
  const busy = { code: 'rate_limited', status: 429, details: { retryAfterSeconds: 1 } };

  it('refuses a caller above its length, and says when to try again', async () => {
    const { time } = createWorld(20);
    for (let index = 0; index < 8 + maxWaiting; index += 1) {
      void time(`made up ${index}`);
    }
    const { answer, ms } = await time('one more');
    expect([answer, ms]).toEqual([expect.objectContaining(busy), 0]);
    await vi.advanceTimersByTimeAsync(20_000);
  });

  it('refuses a caller after ten seconds when the platform answers slowly', async () => {
    const { time } = createWorld(60_000);
    const calls = Array.from({ length: 9 }, (_, index) => time(`made up ${index}`));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await calls[8]).toEqual({ answer: expect.objectContaining(busy), ms: 10_000 });
    await vi.advanceTimersByTimeAsync(60_000);
  });
});
