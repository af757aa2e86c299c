// Buckets: a burst, a steady refill, one for all who have not proved themselves.
import { expect, it } from 'vitest';
import { createRateLimiter } from './rate-limit.ts';

function createLimiter(perSecond: number) {
  const clock = { nowMs: 1_000 };
  const limiter = createRateLimiter(perSecond, () => clock.nowMs);
  const passes = (credential: string): boolean => {
    try {
      limiter.charge(credential);
      return true;
    } catch {
      return false;
    }
  };
  return { clock, limiter, passes };
}

it('passes a burst, then the rate, and saves up no more than the burst', () => {
  const { clock, limiter, passes } = createLimiter(10);
  limiter.admit('a');
  const many = (): number => Array.from({ length: 50 }, () => passes('a')).filter(Boolean).length;
  expect(many()).toBe(20);
  clock.nowMs += 100;
  expect(many()).toBe(1);
  clock.nowMs += 3_600_000;
  expect(many()).toBe(20);
});

it('survives a clock that goes back', () => {
  const { clock, limiter, passes } = createLimiter(1);
  limiter.admit('a');
  passes('a');
  clock.nowMs = 0;
  expect(passes('a')).toBe(true);
  expect(passes('a')).toBe(false);
});

it('says when to come back, in whole seconds', () => {
  const { limiter } = createLimiter(0.4);
  limiter.admit('a');
  limiter.charge('a');
  expect(() => limiter.charge('a')).toThrow(
    expect.objectContaining({
      code: 'rate_limited',
      status: 429,
      details: { retryAfterSeconds: 3 },
    }),
  );
});

it('keeps the bucket of a credential that proves itself again, and forgets the one unused longest', () => {
  const { limiter, passes } = createLimiter(0.5);
  limiter.admit('a');
  expect(passes('a')).toBe(true);
  limiter.admit('a');
  expect(passes('a')).toBe(false);
  for (let index = 0; index < 1_024; index += 1) {
    limiter.admit(`other ${index}`);
  }
  limiter.admit('a');
  expect(passes('a')).toBe(true);
});

it('counts each made-up credential by itself, and lets none crowd out one that authenticated', () => {
  const { clock, limiter, passes } = createLimiter(0.5);
  limiter.admit('good');
  expect(passes('good')).toBe(true);
  expect([passes('made up'), passes('made up')]).toEqual([true, false]);
  for (let index = 0; index < 5_000; index += 1) {
    expect(passes(`made up ${index}`)).toBe(true);
  }
  expect([limiter.isAdmitted('good'), limiter.isAdmitted('made up 4999')]).toEqual([true, false]);
  expect(passes('good')).toBe(false);
  clock.nowMs += 2_000;
  expect(passes('good')).toBe(true);
});

it('gives a credential no new bucket when it authenticates', () => {
  const { limiter, passes } = createLimiter(0.5);
  expect(passes('a')).toBe(true);
  limiter.admit('a');
  expect(passes('a')).toBe(false);
});
