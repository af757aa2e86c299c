/**
 * The two texts a service serves about itself, made once, when somebody first asks: the document, and its page with the
 * headers that keep it harmless. Both need no credential: they contain nothing of a deployment.
 *
 * @module
 */
import { docsPagePolicy, renderDocsPage } from './docs-page.ts';
import { createOpenApi } from './openapi.ts';
import type { Api } from './route.ts';

export type ServedText = {
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** @param prefix - path before `/openapi.json` and `/docs`; empty for a service of its own */
export function createApiPages(api: Api, prefix = ''): readonly ServedText[] {
  const document = once(() => createOpenApi(api));
  const json = once(() => JSON.stringify(document()));
  const page = once(() => renderDocsPage(document(), documentPath));
  const documentPath = `${prefix}/openapi.json`;
  return [
    {
      path: documentPath,
      get body() {
        return json();
      },
      headers: { 'content-type': 'application/json' },
    },
    {
      path: `${prefix}/docs`,
      get body() {
        return page();
      },
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': docsPagePolicy,
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      },
    },
  ];
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
