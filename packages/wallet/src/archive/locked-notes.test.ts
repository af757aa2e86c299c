import { describe, expect, it } from 'vitest';
import { describeLocked, sumLocked } from './locked-notes.ts';

describe('what open spends hold', () => {
  it('is free, or spent, after the latest of their deadlines', () => {
    const notes = [
      { amount: 1n, lockedUntilSeconds: 1_790_000_000 },
      { amount: 2n, lockedUntilSeconds: 1_780_000_000 },
      { amount: 4n, lockedUntilSeconds: undefined },
    ];
    const locked = sumLocked(notes);
    expect(locked).toEqual({ amount: 3n, untilSeconds: 1_790_000_000 });
    expect(locked === undefined ? {} : describeLocked(locked)).toEqual({
      locked: '3',
      lockedUntil: '2026-09-21T14:13:20Z',
    });
    expect(sumLocked(notes.slice(2))).toBeUndefined();
  });
});
