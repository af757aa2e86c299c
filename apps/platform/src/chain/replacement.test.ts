import { describe, expect, it } from 'vitest';
import { isReplacementDue, raiseFees } from './replacement.ts';

describe('isReplacementDue', () => {
  const signedAt = Date.parse('2026-11-21T10:00:00Z');
  const dueAfter = (sent: number): number => {
    const newestAt = new Date(signedAt).toISOString();
    for (let seconds = 0; seconds < 100_000; seconds += 1) {
      if (isReplacementDue(sent, newestAt, signedAt + seconds * 1_000, 120_000)) return seconds;
    }
    throw new Error('never due');
  };

  it('doubles the wait with each replacement, up to sixteenfold', () => {
    expect([1, 2, 3, 4, 5, 6, 50].map(dueAfter)).toEqual([120, 240, 480, 960, 1920, 1920, 1920]);
  });
});

describe('raiseFees', () => {
  const asked = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n };

  it('raises both fees by an eighth at least, and never by nothing', () => {
    for (const fee of [0n, 1n, 7n, 8n, 9n, 1_000_000_001n]) {
      const raised = raiseFees({ maxFeePerGas: fee, maxPriorityFeePerGas: fee }, asked);
      for (const value of [raised.maxFeePerGas, raised.maxPriorityFeePerGas]) {
        expect(value * 8n).toBeGreaterThanOrEqual(fee * 9n);
        expect(value).toBeGreaterThan(fee);
        expect(value).toBeLessThanOrEqual((fee * 9n) / 8n + 1n);
      }
    }
  });

  it('takes what the chain asks for when that is more', () => {
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
