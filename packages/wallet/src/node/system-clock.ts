import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../ports.ts';

/** The clock of this machine. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  steadyMs: () => performance.now(),
  sleep: async (milliseconds, signal) => {
    await sleep(milliseconds, undefined, { signal });
  },
};
