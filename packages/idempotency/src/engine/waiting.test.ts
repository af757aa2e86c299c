// Protocol §8: batch 60 minutes, rounded up to 15 minutes.

import { PoolError } from '@pool/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeDeadline, createPacer, isTooLateToLeave, retryWork } from './waiting.ts';

/** A machine whose clock is set while a job waits. */
function createClock() {
  let [wallMs, steadyMs] = [1_000_000_000, 0];
  return {
    nowMs: () => wallMs,
    steadyMs: () => steadyMs,
    sleep: async (milliseconds: number) => {
      wallMs += milliseconds;
      steadyMs += milliseconds;
    },
    step(milliseconds: number) {
      wallMs += milliseconds;
    },
  };
}

const hourMs = 3_600_000;

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

describe('retryWork', () => {
  it.each([
    ['ahead', hourMs],
    ['back', -hourMs],
  ])('has its patience also if the clock of the machine is put %s', async (_, stepMs) => {
    const clock = createClock();
    let calls = 0;
    const work = async (): Promise<never> => {
      calls += 1;
      if (calls === 1) {
        clock.step(stepMs);
      }
      throw new PoolError('chain_unreachable', 'down');
    };
    const { signal } = new AbortController();
    const options = { clock, patienceMs: 60_000, signal, onRetry: () => undefined };
    await expect(retryWork(options, work)).rejects.toMatchObject({ code: 'chain_unreachable' });
    expect(clock.steadyMs()).toBeGreaterThanOrEqual(60_000);
    expect(clock.steadyMs()).toBeLessThan(75_000);
  });
});

describe('createPacer', () => {
  it('is due after its pause also if the clock of the machine is put back', async () => {
    const clock = createClock();
    const pacer = createPacer(clock, 500);
    pacer.markTried();
    clock.step(-hourMs);
    await clock.sleep(1_999);
    expect(pacer.isDue()).toBe(false);
    await clock.sleep(1);
    expect(pacer.isDue()).toBe(true);
  });
});
