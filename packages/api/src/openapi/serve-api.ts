/**
 * The two texts a service serves about itself, made once: the document, and its page with the headers that
 * keep it harmless. Both need no credential: they contain nothing of a deployment.
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
  const document = createOpenApi(api);
  const documentPath = `${prefix}/openapi.json`;
  return [
    {
      path: documentPath,
      body: JSON.stringify(document),
      headers: { 'content-type': 'application/json' },
    },
    {
      path: `${prefix}/docs`,
      body: renderDocsPage(document, documentPath),
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': docsPagePolicy,
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      },
    },
  ];
}
