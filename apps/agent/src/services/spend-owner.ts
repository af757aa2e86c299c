/**
 * Which process performs a spend, and whether it still runs. The agent and its commands share one archive of spends.
 *
 * @module
 */
import type { SpendOwner } from '@pool/operations';

/** This process. */
export const ownProcess: SpendOwner = {
  processId: process.pid,
  startedAtMs: Math.round(Date.now() - performance.now()),
};

/**
 * True if nobody performs its spends any more. An id that another program uses now counts as running: then the deadline of the spend
 * decides. A process of another container looks ended. Its unsent spend is given up, and it begins another one by itself.
 */
export function hasEnded(owner: SpendOwner | undefined, own: SpendOwner = ownProcess): boolean {
  if (owner === undefined) {
    return true;
  }
  if (owner.processId === own.processId) {
    return owner.startedAtMs !== own.startedAtMs;
  }
  try {
    process.kill(owner.processId, 0);
    return false;
  } catch (error) {
    // EPERM: it runs as another user.
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}
