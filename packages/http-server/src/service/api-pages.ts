/**
 * `/openapi.json` and `/docs`: the description of a service. They need no credential.
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
