import { describe, expect, it } from 'vitest';
import { hasEnded, ownProcess } from './spend-owner.ts';

describe('the process of a spend', () => {
  it.each([
    ['this one', ownProcess, false],
    ['an earlier one with the same id', { ...ownProcess, startedAtMs: 1 }, true],
    ['one that runs', { processId: process.ppid, startedAtMs: 1 }, false],
    ['one whose id is not in use', { processId: 2 ** 22 + 7, startedAtMs: 1 }, true],
    ['unknown', undefined, true],
  ])('%s', (_, owner, expected) => {
    expect(hasEnded(owner)).toBe(expected);
  });
});
