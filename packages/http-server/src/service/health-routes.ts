/**
 * Probes for a supervisor and a load balancer: whether the process is alive, and whether it should be sent requests.
 *
 * @module
 */
import type { Shell } from '../shell/shell-context.ts';
import type { Check } from './readiness.ts';

// `/openapi.json` and `/docs`: the description of a service. They need no credential.

/** A text that is the same for every request. `body` may be made when it is first read. */
type ServedText = {
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};

export function addApiPages(app: Shell, pages: readonly ServedText[]): void {
  for (const page of pages) {
    app.get(page.path, (c) => c.body(page.body, 200, page.headers));
  }
}

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
