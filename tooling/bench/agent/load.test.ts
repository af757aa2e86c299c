import { describe, expect, it } from 'vitest';
import { callAtRate, callAtWill, findQuantile } from './load.ts';

describe('findQuantile', () => {
  it('is the smallest value that the share does not exceed', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(findQuantile(values, 0.5)).toBe(50);
    expect(findQuantile(values, 0.99)).toBe(99);
    expect(findQuantile(values, 1)).toBe(100);
    expect(findQuantile([7], 0.01)).toBe(7);
    expect(findQuantile([], 0.5)).toBe(0);
  });
});

describe.each([
  [
    'callAtRate',
    (call: () => Promise<boolean>) => callAtRate(call, { perSecond: 100, seconds: 0.1 }),
  ],
  ['callAtWill', (call: () => Promise<boolean>) => callAtWill(call, { callers: 2, seconds: 0.05 })],
])('%s', (_, load) => {
  it('counts a wrong answer and a failed call as errors, and every call as a request', async () => {
    let calls = 0;
    const result = await load(async () => {
      calls += 1;
      const call = calls;
      await new Promise((resolve) => setTimeout(resolve, 5));
      if (call % 3 === 0) throw new Error('cut off');
      return call % 3 === 1;
    });
    expect(result.requests).toBe(calls);
    expect(result.errors).toBeGreaterThan(0);
    expect(result.errors).toBeLessThan(calls);
    expect(result.p50Ms).toBeGreaterThanOrEqual(4);
  });
});

describe('callAtRate', () => {
  it('makes its calls without waiting for answers', async () => {
    let calls = 0;
    let answer = (): void => {};
    const late = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const running = callAtRate(
      async () => {
        calls += 1;
        if (calls === 10) answer();
        await late;
        return true;
      },
      { perSecond: 100, seconds: 0.1 },
    );
    expect(await running).toMatchObject({ requests: 10, errors: 0 });
  });
});
