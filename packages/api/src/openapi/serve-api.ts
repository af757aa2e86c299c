/**
 * What a service serves about itself, made once, when somebody first asks. It needs no credential: it contains nothing of a
 * deployment.
 *
 * @module
 */
import { renderMarkdown } from './markdown.ts';
import { createOpenApi, type OpenApiDocument } from './openapi.ts';
import type { Api } from './route.ts';

export type ServedText = {
  readonly path: string;
  readonly body: string;
  readonly contentType: string;
};

/** A document to be shown as a page. */
export type ServedPage = {
  readonly path: string;
  readonly title: string;
  /** Its requests go to the service that shows it. */
  readonly document: OpenApiDocument;
};

export type ApiPages = {
  readonly texts: readonly ServedText[];
  readonly pages: readonly ServedPage[];
};

/**
 * The documents at `/openapi.json`, as Markdown at `/docs.md` and as pages at `/docs`, each behind its prefix, and `/llms.txt`.
 *
 * @param apis - by prefix; the empty one is of the service itself
 */
export function createApiPages(apis: Readonly<Record<string, Api>>): ApiPages {
  const services = Object.entries(apis).map(([prefix, api]) => ({
    prefix,
    api,
    document: once(() => createOpenApi(api)),
  }));
  const index = services.map(({ prefix, api }) => ({ api, url: `${prefix}/docs.md` }));
  return {
    texts: [
      ...services.flatMap(({ prefix, document }) => [
        createText(`${prefix}/openapi.json`, 'application/json', () => JSON.stringify(document())),
        createText(`${prefix}/docs.md`, 'text/markdown; charset=utf-8', () =>
          renderMarkdown(document(), `${prefix}/openapi.json`),
        ),
      ]),
      createText('/llms.txt', 'text/plain; charset=utf-8', () => renderIndex(index)),
    ],
    pages: services.map(({ prefix, api, document }) => ({
      path: `${prefix}/docs`,
      title: api.title,
      get document() {
        return { ...document(), servers: [{ url: '/' }] };
      },
    })),
  };
}

/** The form of https://llmstxt.org: what there is, and where it is as Markdown. */
export function renderIndex(
  documents: readonly { readonly api: Api; readonly url: string }[],
): string {
  const lines = documents.map(({ api, url }) => `- [${api.title}](${url}): ${api.description}`);
  return [
    '# Pool',
    '',
    '> Private payments of many recipients at once: HTTP interfaces.',
    '',
    '## Docs',
    '',
    ...lines,
    '',
  ].join('\n');
}

function createText(path: string, contentType: string, make: () => string): ServedText {
  const made = once(make);
  return {
    path,
    contentType,
    get body() {
      return made();
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
