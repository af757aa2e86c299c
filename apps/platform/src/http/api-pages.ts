/**
 * `/openapi.json` and `/docs`: what a service says about itself, to everybody.
 *
 * @module
 */
import type { ServedText } from '@pool/api';
import type { Shell } from '@pool/http-server';

export function addApiPages(app: Shell, pages: readonly ServedText[]): void {
  for (const { path, body, headers } of pages) {
    app.get(path, (c) => c.body(body, 200, headers));
  }
}
