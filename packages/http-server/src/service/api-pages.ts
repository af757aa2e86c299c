/**
 * `/openapi.json` and `/docs`: the description of a service. They need no credential.
 *
 * @module
 */
import type { Shell } from '../shell/shell-context.ts';

/** A text that is the same for every request. */
export type ServedText = {
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};

export function addApiPages(app: Shell, pages: readonly ServedText[]): void {
  for (const { path, body, headers } of pages) {
    app.get(path, (c) => c.body(body, 200, headers));
  }
}
