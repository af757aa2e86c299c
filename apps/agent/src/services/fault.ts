/**
 * Ends the process at a named point, so that tests can show that a restart pays exactly once. The configuration allows
 * it only under `NODE_ENV=test`.
 *
 * @module
 */
import type { AgentFaultPoint } from '../config/config.ts';

/** @returns a function to call at each point; at the chosen point it does not return */
export function createFault(
  chosen: AgentFaultPoint | undefined,
): (point: AgentFaultPoint) => Promise<void> {
  return async (point) => {
    if (point === chosen) {
      // SIGKILL: no flush, no handler and no release of the lease runs after this.
      process.kill(process.pid, 'SIGKILL');
      await new Promise(() => undefined);
    }
  };
}
