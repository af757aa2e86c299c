// Buckets: a burst, a steady refill, and two memories, so that made-up callers do not displace authenticated ones.
import { isPoolError } from '@pool/core';
import { expect, it } from 'vitest';
import { createRateLimiter } from './rate-limiter.ts';

function createLimiter(perSecond: number, burst = Math.max(1, 2 * perSecond), maxRemembered = 100) {
  const clock = { nowMs: 1_000_000 };
  const nowMs = () => clock.nowMs;
  const limiter = createRateLimiter({ perSecond, burst, nowMs, maxRemembered });
  const retryAfter = (caller: string, cost?: number): unknown => {
    try {
      limiter.take(caller, cost);
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate_limited', status: 429, retryable: true });
      return isPoolError(error) ? error.details?.['retryAfterSeconds'] : error;
    }
    return undefined;
  };
  const passes = (caller: string, cost?: number) => retryAfter(caller, cost) === undefined;
  const takeAll = (caller: string): number => {
    let taken = 0;
    while (taken < 1_000 && passes(caller)) {
      taken += 1;
    }
    return taken;
  };
  return { clock, limiter, passes, retryAfter, takeAll };
}

it('allows a burst, then the rate, and accumulates no more than the burst', () => {
  const { clock, takeAll } = createLimiter(2, 20);
  expect(takeAll('a')).toBe(20);
  clock.nowMs += 499;
  expect(takeAll('a')).toBe(0);
  clock.nowMs += 1;
  expect(takeAll('a')).toBe(1);
  clock.nowMs += 3_600_000;
  expect(takeAll('a')).toBe(20);
});

it('keeps the buckets of callers separate', () => {
  const { takeAll } = createLimiter(2, 20);
  takeAll('a');
  expect(takeAll('b')).toBe(20);
});

it('says when to try again, in whole seconds', () => {
  const { clock, limiter, retryAfter } = createLimiter(0.4);
  limiter.take('a');
  expect(retryAfter('a')).toBe(3);
  clock.nowMs += 1_000;
  expect(retryAfter('a')).toBe(2);
  expect(() => limiter.take('a')).toThrow('too many requests; try again in 2 s');
  expect(createLimiter(1_000, 1).retryAfter('b', 2)).toBe(1);
});

it('takes several calls at once, or none of them', () => {
  const { limiter, passes, retryAfter } = createLimiter(1, 5);
  limiter.take('a', 3);
  expect(retryAfter('a', 4)).toBe(2);
  expect(passes('a', 2)).toBe(true);
  expect(passes('a')).toBe(false);
});

it('gives back one call, and never more than the burst', () => {
  const { limiter, passes, takeAll } = createLimiter(1, 5);
  takeAll('a');
  limiter.giveBack('a');
  expect([passes('a'), passes('a')]).toEqual([true, false]);
  limiter.giveBack('never seen');
  limiter.take('b');
  limiter.giveBack('b');
  limiter.giveBack('b');
  expect(takeAll('b')).toBe(5);
});

it('refills nothing after the clock was set back', () => {
  const { clock, takeAll } = createLimiter(2, 20);
  takeAll('a');
  clock.nowMs -= 60_000;
  expect(takeAll('a')).toBe(0);
});

it('limits callers as usual after the clock was set back', () => {
  const { clock, limiter, passes } = createLimiter(1);
  limiter.take('a');
  clock.nowMs = 0;
  expect(passes('a')).toBe(true);
  expect(passes('a')).toBe(false);
});

it('forgets only the caller that called longest ago', () => {
  const { limiter, takeAll } = createLimiter(2, 20);
  limiter.take('third');
  takeAll('first');
  takeAll('second');
  limiter.take('third');
  for (let index = 0; index < 98; index += 1) {
    limiter.take(`caller ${index}`);
  }
  expect(takeAll('third')).toBe(18);
  expect(takeAll('first')).toBe(20);
});

it('keeps the bucket of a credential that authenticates again, and forgets the one unused longest', () => {
  const { limiter, passes } = createLimiter(0.5);
  limiter.admit('a');
  expect(passes('a')).toBe(true);
  limiter.admit('a');
  expect(passes('a')).toBe(false);
  for (let index = 0; index < 100; index += 1) {
    limiter.admit(`other ${index}`);
  }
  limiter.admit('a');
  expect(passes('a')).toBe(true);
});

it('counts each made-up credential separately, and keeps the authenticated ones', () => {
  const { clock, limiter, passes } = createLimiter(0.5);
  limiter.admit('good');
  expect(passes('good')).toBe(true);
  expect([passes('made up'), passes('made up')]).toEqual([true, false]);
  for (let index = 0; index < 500; index += 1) {
    expect(passes(`made up ${index}`)).toBe(true);
  }
  expect([limiter.isAdmitted('good'), limiter.isAdmitted('made up 499')]).toEqual([true, false]);
  expect(passes('good')).toBe(false);
  clock.nowMs += 2_000;
  expect(passes('good')).toBe(true);
});

it('gives a credential no new bucket when it authenticates', () => {
  const { limiter, passes } = createLimiter(0.5);
  expect(passes('a')).toBe(true);
  limiter.admit('a');
  expect(passes('a')).toBe(false);
  // A forgotten credential is treated like an unknown caller.
  for (let index = 0; index < 100; index += 1) {
    limiter.admit(`other ${index}`);
  }
  expect([limiter.isAdmitted('a'), passes('a')]).toEqual([false, true]);
});
