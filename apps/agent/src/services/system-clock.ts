/**
 * The machine's own clock.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '@pool/operations';

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  sleep: async (milliseconds, signal) => {
    await sleep(milliseconds, undefined, { signal });
  },
};
