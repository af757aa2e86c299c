import { describe, expect, it } from 'vitest';
import { capFees, isReplacementDue, raiseFees, raiseFeesWithin } from './replacement.ts';

describe('isReplacementDue', () => {
  const signedAt = Date.parse('2026-11-21T10:00:00Z');
  const dueAfter = (sent: number): number => {
    for (let seconds = 0; seconds < 100_000; seconds += 1) {
      if (isReplacementDue(sent, signedAt, signedAt + seconds * 1_000, 120_000)) return seconds;
    }
    throw new Error('never due');
  };

  it('doubles the wait with each replacement, up to sixteenfold', () => {
    expect([1, 2, 3, 4, 5, 6, 50].map(dueAfter)).toEqual([120, 240, 480, 960, 1920, 1920, 1920]);
  });
});

describe('raiseFees', () => {
  const asked = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };

  it('raises both fees by at least an eighth and at least one wei', () => {
    for (const fee of [0n, 1n, 7n, 8n, 9n, 1_000_000_001n]) {
      const raised = raiseFees({ maxFeePerGas: fee, maxPriorityFeePerGas: fee }, asked);
      for (const value of [raised.maxFeePerGas, raised.maxPriorityFeePerGas]) {
        expect(value * 8n).toBeGreaterThanOrEqual(fee * 9n);
        expect(value).toBeGreaterThan(fee);
        expect(value).toBeLessThanOrEqual((fee * 9n) / 8n + 1n);
      }
    }
  });

  it('uses the fees that the chain asks for when they are higher', () => {
    expect(
      raiseFees(
        { maxFeePerGas: 800n, maxPriorityFeePerGas: 8n },
        { maxFeePerGas: 5_000n, maxPriorityFeePerGas: 1n },
      ),
    ).toEqual({ maxFeePerGas: 5_000n, maxPriorityFeePerGas: 9n });
  });

  it('keeps the tip within the whole fee', () => {
    expect(
      raiseFees(
        { maxFeePerGas: 8n, maxPriorityFeePerGas: 8n },
        { maxFeePerGas: 8n, maxPriorityFeePerGas: 99n },
      ),
    ).toEqual({ maxFeePerGas: 99n, maxPriorityFeePerGas: 99n });
  });
});

describe('raiseFeesWithin', () => {
  const old = { maxFeePerGas: 800n, maxPriorityFeePerGas: 80n };

  it('equals raiseFees within the cap and without a cap', () => {
    const asked = { maxFeePerGas: 5_000n, maxPriorityFeePerGas: 100n };
    for (const cap of [undefined, 5_000n, 10n ** 18n]) {
      expect(raiseFeesWithin(old, asked, cap)).toEqual(raiseFees(old, asked));
    }
  });

  it('offers the cap when the chain asks for more', () => {
    const asked = { maxFeePerGas: 5_000n, maxPriorityFeePerGas: 2_000n };
    expect(raiseFeesWithin(old, asked, 900n)).toEqual({
      maxFeePerGas: 900n,
      maxPriorityFeePerGas: 900n,
    });
  });

  it('offers nothing that would not replace the old transaction', () => {
    const asked = { maxFeePerGas: 5_000n, maxPriorityFeePerGas: 100n };
    // An eighth above 800 is 900.
    expect(raiseFeesWithin(old, asked, 899n)).toBeUndefined();
    expect(raiseFeesWithin(old, { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }, 899n)).toBe(
      undefined,
    );
    expect(raiseFeesWithin(old, asked, 0n)).toBeUndefined();
  });

  it('never exceeds the cap, and its offers always replace the old transaction', () => {
    for (const cap of [900n, 1_000n, 1_799n]) {
      for (const fee of [1n, 79n, 800n, 801n, 6_000n]) {
        const asked = { maxFeePerGas: fee, maxPriorityFeePerGas: fee };
        const offered = raiseFeesWithin(old, asked, cap);
        expect(offered?.maxFeePerGas).toBeLessThanOrEqual(cap);
        expect((offered?.maxFeePerGas ?? 0n) * 8n).toBeGreaterThanOrEqual(old.maxFeePerGas * 9n);
        expect((offered?.maxPriorityFeePerGas ?? 0n) * 8n).toBeGreaterThanOrEqual(
          old.maxPriorityFeePerGas * 9n,
        );
        expect(offered?.maxPriorityFeePerGas).toBeLessThanOrEqual(offered?.maxFeePerGas ?? 0n);
      }
    }
  });
});

describe('capFees', () => {
  it('bounds the whole fee and the tip, and changes nothing without a cap', () => {
    const fees = { maxFeePerGas: 100n, maxPriorityFeePerGas: 60n };
    expect(capFees(fees, undefined)).toEqual(fees);
    expect(capFees(fees, 80n)).toEqual({ maxFeePerGas: 80n, maxPriorityFeePerGas: 60n });
    expect(capFees(fees, 50n)).toEqual({ maxFeePerGas: 50n, maxPriorityFeePerGas: 50n });
  });
});
