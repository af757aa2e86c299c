/**
 * Probes for a supervisor and a load balancer: whether the process is alive, and whether it should be sent requests.
 *
 * @module
 */
import type { Shell } from '../shell/shell-context.ts';
import type { Check } from './readiness.ts';

/** @param findProblem - why the process is not ready */
export function addHealthRoutes(app: Shell, findProblem: Check = () => undefined): void {
  app.get('/livez', (c) => c.json({ ok: true }));
  app.get('/readyz', (c) => {
    const problem = findProblem();
    if (problem !== undefined) {
      throw problem;
    }
    return c.json({ ok: true });
  });
}
