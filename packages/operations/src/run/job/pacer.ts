/**
 * When to send a refused request again: after a short pause at first, then after longer and longer ones.
 *
 * @module
 */
import type { Run } from './run.ts';

/** The shortest and the longest pause. */
const minMs = 2_000;
const maxMs = 60_000;

export type Pacer = {
  isDue(): boolean;
  /** Starts the next pause. */
  markTried(): void;
};

export function createPacer(run: Run): Pacer {
  const { clock, pollMs } = run.deps;
  let dueAtMs = 0;
  let waitMs = Math.max(minMs, pollMs);
  return {
    isDue: () => clock.nowMs() >= dueAtMs,
    markTried() {
      dueAtMs = clock.nowMs() + waitMs;
      waitMs = Math.min(2 * waitMs, maxMs);
    },
  };
}
