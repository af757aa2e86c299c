import { describe, expect, it } from 'vitest';
import { createTimeLeft } from './time-left.ts';

describe('createTimeLeft', () => {
  it('says nothing at the beginning', () => {
    const timeLeft = createTimeLeft();
    expect(timeLeft(0, 0)).toBeUndefined();
    expect(timeLeft(0.5, 1_000)).toBeUndefined();
    expect(timeLeft(0.01, 60_000)).toBeUndefined();
  });

  it('counts from the first report, not from nothing', () => {
    const timeLeft = createTimeLeft();
    timeLeft(0.5, 1_000);
    // A quarter in 10 seconds: the other quarter takes 10 more.
    expect(timeLeft(0.75, 11_000)).toBe(10);
  });

  it('never promises zero seconds', () => {
    const timeLeft = createTimeLeft();
    timeLeft(0, 0);
    expect(timeLeft(0.9999, 10_000)).toBe(1);
  });

  it('begins again with work that began again', () => {
    const timeLeft = createTimeLeft();
    timeLeft(0.5, 0);
    expect(timeLeft(0.1, 50_000)).toBeUndefined();
    expect(timeLeft(0.55, 60_000)).toBe(10);
  });
});
