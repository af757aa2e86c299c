/**
 * Probes for a supervisor and a load balancer: whether the process is alive, and whether it can serve.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type { Shell } from '@pool/http-server';

/** @param isReady - whether this process holds the database and the database answers, as its lock saw it within the last seconds */
export function addHealthRoutes(app: Shell, isReady: () => boolean = () => true): void {
  app.get('/livez', (c) => c.json({ ok: true }));
  app.get('/readyz', (c) => {
    if (!isReady()) {
      throw new PoolError('database_unavailable', 'the database does not answer; try again');
    }
    return c.json({ ok: true });
  });
}
