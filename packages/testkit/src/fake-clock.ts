/**
 * A fake clock: sleeping takes no time and moves the clock forward.
 *
 * @module
 */

export type FakeClock = {
  nowMs(): number;
  steadyMs(): number;
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  advanceSeconds(seconds: number): void;
};

/** @param startMs - default: 2026-11-21T09:00:00Z */
export function createFakeClock(startMs = Date.UTC(2026, 10, 21, 9)): FakeClock {
  let now = startMs;
  return {
    nowMs: () => now,
    steadyMs: () => now,
    async sleep(milliseconds, signal) {
      signal.throwIfAborted();
      now += milliseconds;
      // Lets other tasks of the same test run between two sleeps.
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    },
    advanceSeconds(seconds) {
      now += seconds * 1000;
    },
  };
}
