import { isPoolError } from '@pool/core';
import { beforeEach, describe, expect, it } from 'vitest';
import { parseCallerAddress } from './caller-address.ts';
import { createRateLimiter, maxRememberedCallers, type RateLimiter } from './rate-limit.ts';

describe('createRateLimiter', () => {
  let nowMs: number;
  let limiter: RateLimiter;
  beforeEach(() => {
    nowMs = 1_000_000;
    limiter = createRateLimiter(2, () => nowMs);
  });

  function takeAll(caller: string, limit = 100): number {
    for (let taken = 0; taken < limit; taken += 1) {
      try {
        limiter.take(caller);
      } catch (error) {
        expect(error).toMatchObject({ code: 'rate_limited', status: 429, retryable: true });
        return taken;
      }
    }
    return limit;
  }
  function retryAfter(caller: string): unknown {
    try {
      limiter.take(caller);
    } catch (error) {
      return isPoolError(error) ? error.details?.['retryAfterSeconds'] : error;
    }
    return undefined;
  }

  it('lets ten seconds’ worth through at once, and then the steady rate', () => {
    expect(takeAll('a')).toBe(20);
    nowMs += 499;
    expect(takeAll('a')).toBe(0);
    nowMs += 1;
    expect(takeAll('a')).toBe(1);
    nowMs += 3_600_000;
    expect(takeAll('a')).toBe(20);
  });

  it('keeps callers apart, and says when to come back', () => {
    takeAll('a');
    expect(takeAll('b')).toBe(20);
    expect(retryAfter('a')).toBe(1);
    limiter = createRateLimiter(0.1, () => nowMs);
    limiter.take('slow');
    expect(retryAfter('slow')).toBe(10);
    nowMs += 4_000;
    expect(retryAfter('slow')).toBe(6);
  });

  it('gives nothing for a clock that was set back', () => {
    takeAll('a');
    nowMs -= 60_000;
    expect(takeAll('a')).toBe(0);
  });

  it('forgets who called longest ago, and nobody else', () => {
    takeAll('first');
    takeAll('second');
    for (let i = 0; i < maxRememberedCallers - 1; i += 1) {
      limiter.take(`caller ${i}`);
    }
    expect(takeAll('second')).toBe(0);
    expect(takeAll('first')).toBe(20);
  });
});

describe('parseCallerAddress', () => {
  it.each([
    ['the connection', '192.0.2.1', undefined, 0, '192.0.2.1'],
    ['no header without a proxy', '192.0.2.1', '198.51.100.7', 0, '192.0.2.1'],
    ['what the nearest proxy saw', '127.0.0.1', '203.0.113.9, 198.51.100.7', 1, '198.51.100.7'],
    [
      'what the outer of two saw',
      '127.0.0.1',
      '1.1.1.1, 198.51.100.7, 10.0.0.1',
      2,
      '198.51.100.7',
    ],
    ['the connection for a header that is no address', '127.0.0.1', 'evil', 1, '127.0.0.1'],
    ['the connection for a header too short', '127.0.0.1', '198.51.100.7', 2, '127.0.0.1'],
    ['IPv4 inside IPv6', '::ffff:192.0.2.1', undefined, 0, '192.0.2.1'],
    ['a network of IPv6', '2001:db8:0:1:aaaa::1', undefined, 0, '2001:db8:0:1::/64'],
    ['a network of short IPv6', '2001:0db8::1', undefined, 0, '2001:db8:0:0::/64'],
    ['loopback of IPv6', '::1', undefined, 0, '0:0:0:0::/64'],
    ['nothing known', undefined, undefined, 0, 'unknown'],
  ])('takes %s', (_name, remote, forwardedFor, hops, expected) => {
    expect(parseCallerAddress(remote, forwardedFor, hops)).toBe(expected);
  });
});
