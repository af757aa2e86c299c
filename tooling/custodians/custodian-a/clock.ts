/**
 * The simulator's time: it can run faster than the machine's, and jump ahead.
 *
 * @module
 */
export type Clock = {
  /** Milliseconds since 1970, in the simulator's time. */
  now(): number;
  /** ISO 8601. */
  date(): string;
  advance(ms: number): void;
  /** 60: one second of the machine is one minute here. */
  setScale(scale: number): void;
  /** How far the simulator's time is ahead of the machine's. */
  offset(): number;
};

export function createClock(offsetMs = 0): Clock {
  let base = Date.now() + offsetMs;
  let startedAt = Date.now();
  let scale = 1;
  const now = (): number => base + (Date.now() - startedAt) * scale;
  return {
    now,
    date: () => new Date(now()).toISOString(),
    advance(ms) {
      base += ms;
    },
    setScale(next) {
      base = now();
      startedAt = Date.now();
      scale = next;
    },
    offset: () => now() - Date.now(),
  };
}
