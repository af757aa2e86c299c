/**
 * When to send again what was refused: soon at first, then more and more seldom.
 *
 * @module
 */
import type { Run } from './run.ts';

/** How long a resend waits at least, and at most. */
const minMs = 2_000;
const maxMs = 60_000;

export type Pacer = {
  isDue(): boolean;
  /** It was tried now. */
  next(): void;
};

export function createPacer(run: Run): Pacer {
  const { clock, pollMs } = run.deps;
  let dueAtMs = 0;
  let waitMs = Math.max(minMs, pollMs);
  return {
    isDue: () => clock.nowMs() >= dueAtMs,
    next() {
      dueAtMs = clock.nowMs() + waitMs;
      waitMs = Math.min(2 * waitMs, maxMs);
    },
  };
}
