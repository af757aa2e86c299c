// How many calls come through at once, and how soon the next ones do. The buckets are tested in @pool/http-server.
import { isPoolError } from '@pool/core';
import { describe, expect, it } from 'vitest';
import { createRateLimits, type Limiter, settlementCost } from './rate-limit.ts';

const config = {
  addressPerSecond: 2,
  sessionPerSecond: 3,
  edgePerSecond: 4,
  settlementsPerMinute: 6,
  spendsPerMinute: 2,
  batchMibPerSecond: 1,
};

async function takeAll(limiter: Limiter, cost = 1): Promise<number> {
  for (let taken = 0; ; taken += 1) {
    try {
      await limiter.take('a', cost);
    } catch (error) {
      expect(isPoolError(error) && error.code).toBe('rate_limited');
      return taken;
    }
  }
}

describe('the limits of the platform', () => {
  it.each([
    ['address', 2],
    ['session', 3],
    ['edge', 4],
  ] as const)(
    'allow ten seconds’ worth at once, and then the steady rate: %s',
    async (name, perSecond) => {
      let nowMs = 1_000_000;
      const limiter = createRateLimits(config, () => nowMs)[name];
      expect(await takeAll(limiter)).toBe(10 * perSecond);
      nowMs += 1_000;
      expect(await takeAll(limiter)).toBe(perSecond);
      nowMs += 3_600_000;
      expect(await takeAll(limiter)).toBe(10 * perSecond);
    },
  );

  it('lets a minute’s worth of spends through at once, each checked', async () => {
    const { spends } = createRateLimits(config, () => 1_000_000);
    expect(await takeAll(spends, settlementCost.request + settlementCost.checks)).toBe(2);
  });

  it('allow a minute’s worth of settlements at once, each with its check', async () => {
    let nowMs = 1_000_000;
    const { settlements } = createRateLimits(config, () => nowMs);
    const cost = settlementCost.request + settlementCost.checks;
    expect(await takeAll(settlements, cost)).toBe(6);
    nowMs += 10_000;
    expect(await takeAll(settlements, cost)).toBe(1);
  });
});
