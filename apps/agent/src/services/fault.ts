/**
 * Ends the process at a named point, to show that a restart pays exactly once. Honoured only under
 * `NODE_ENV=test` (config.ts).
 *
 * @module
 */
import { faultPoints } from '@pool/operations';

/** The pipeline's points, and those around the acceptance of a request and of a cancellation. */
export const agentFaultPoints = [
  'claim.before-store',
  'claim.after-store',
  'cancel.before-store',
  'cancel.after-store',
  ...faultPoints,
] as const;

export type AgentFaultPoint = (typeof agentFaultPoints)[number];

/** @returns what to call on reaching a point; it does not return at the chosen one */
export function createFault(
  chosen: AgentFaultPoint | undefined,
): (point: AgentFaultPoint) => Promise<void> {
  return async (point) => {
    if (point === chosen) {
      // Nothing may run after this: no flush, no handler, no lease given back.
      process.kill(process.pid, 'SIGKILL');
      await new Promise(() => undefined);
    }
  };
}
