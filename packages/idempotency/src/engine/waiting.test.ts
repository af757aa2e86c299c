// Protocol §8: batch 60 minutes, rounded up to 15 minutes.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeDeadline, isTooLateToLeave } from './waiting.ts';

describe('computeDeadline', () => {
  it('rounds up to a quarter of an hour, at least the window ahead', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 40 }), (now) => {
        const deadline = computeDeadline(now, 3600);
        expect(deadline % 900).toBe(0);
        expect(deadline - now).toBeGreaterThanOrEqual(3600);
        expect(deadline - now).toBeLessThan(3600 + 900);
      }),
    );
  });

  it('does not round windows shorter than a quarter of an hour', () => {
    expect(computeDeadline(1_000, 30)).toBe(1_030);
  });
});

describe('isTooLateToLeave', () => {
  it('requires a minute before the deadline, or a tenth of a short window', () => {
    expect(isTooLateToLeave(3_539, 3_600, 3_600)).toBe(false);
    expect(isTooLateToLeave(3_540, 3_600, 3_600)).toBe(true);
    expect(isTooLateToLeave(26, 30, 30)).toBe(false);
    expect(isTooLateToLeave(27, 30, 30)).toBe(true);
  });
});
