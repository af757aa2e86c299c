/**
 * The description of a service: texts, and pages on which a person reads and tries its routes. Swagger UI draws the pages. Its files are
 * part of this package, so no other origin is asked, and no install script of it runs.
 *
 * @module
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Shell } from '../shell/shell-context.ts';

/** As `createApiPages` of `@pool/api` makes them. Everything is the same for every request, and may be made when it is first read. */
type ApiPages = {
  readonly texts: readonly {
    readonly path: string;
    readonly body: string;
    readonly contentType: string;
  }[];
  readonly pages: readonly {
    readonly path: string;
    readonly title: string;
    readonly document: object;
  }[];
};

// `data:` is for the pictures inside its style sheet. Its elements get styles by script only, so nothing inline is allowed.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

const assetTypes = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
} as const;

/**
 * @param options.isReadOnly - the pages send no request and have an origin of their own, so that their scripts reach nothing that a page of
 *   this origin keeps. For a service that also serves a page with secrets
 */
export function addApiPages(
  app: Shell,
  { texts, pages }: ApiPages,
  options: { readonly isReadOnly?: boolean } = {},
): void {
  const { isReadOnly = false } = options;
  const pageHeaders = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': [...policy, ...(isReadOnly ? ['sandbox allow-scripts'] : [])].join(
      '; ',
    ),
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
  };
  for (const text of texts) {
    app.get(text.path, (c) => c.body(text.body, 200, { 'content-type': text.contentType }));
  }
  for (const page of pages) {
    const script = `${page.path}/start.js`;
    app.get(page.path, (c) => c.body(renderPage(page.title, script), 200, pageHeaders));
    app.get(script, (c) =>
      c.body(renderScript(page.document, isReadOnly), 200, {
        'content-type': assetTypes['swagger-ui-bundle.js'],
      }),
    );
  }
  for (const [name, contentType] of Object.entries(assetTypes)) {
    app.get(`/docs/${name}`, (c) =>
      c.body(readFileSync(join(findSwaggerUi(), name), 'utf8'), 200, {
        'content-type': contentType,
        'cache-control': 'public, max-age=86400',
      }),
    );
  }
}

/** Beside the built module; for the sources, in its own package. */
function findSwaggerUi(): string {
  const built = join(import.meta.dirname, 'swagger-ui');
  return existsSync(built)
    ? built
    : dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
}

function renderPage(title: string, script: string): string {
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${title}</title>`,
    '<link rel="icon" href="data:,">',
    '<link rel="stylesheet" href="/docs/swagger-ui.css">',
    '</head>',
    '<body>',
    '<main id="page"></main>',
    '<noscript>This page needs scripts. <a href="/llms.txt">The same as Markdown</a> needs none.</noscript>',
    '<script src="/docs/swagger-ui-bundle.js"></script>',
    `<script src="${script}"></script>`,
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

/** No credential is stored, and no address of this page changes what it shows. */
function renderScript(document: object, isReadOnly: boolean): string {
  const settings = {
    dom_id: '#page',
    spec: document,
    deepLinking: false,
    persistAuthorization: false,
    queryConfigEnabled: false,
    validatorUrl: null,
    defaultModelsExpandDepth: 0,
    syntaxHighlight: { activated: false },
    ...(isReadOnly ? { supportedSubmitMethods: [] } : {}),
  };
  return `SwaggerUIBundle(${JSON.stringify(settings)});\n`;
}
