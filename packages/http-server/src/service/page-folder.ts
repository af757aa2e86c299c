/**
 * A folder with a built page, served under a path with the strictest policy that a page of one origin can have.
 *
 * @module
 */
import { serveStatic } from '@hono/node-server/serve-static';
import type { Shell } from '../shell/shell-context.ts';

/**
 * - The page runs scripts of its own files only, and WebAssembly; no text becomes a script (Trusted Types), and nothing is inline.
 * - It talks to its own origin and to the origins that are given.
 * - No other page may frame it, open it with a handle to it, or load its files.
 * - It is cross-origin isolated, so its threads may share memory.
 *
 * @param connectTo - origins, for example of a chain's RPC
 */
export function createPageHeaders(
  connectTo: readonly string[] = [],
): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    ['connect-src', "'self'", ...connectTo].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ];
  return {
    'content-security-policy': policy.join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-embedder-policy': 'require-corp',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
  };
}

/** Every origin over TLS, and this machine. For a page whose reader names the nodes that it asks. */
const anyNode = ['https:', 'http://127.0.0.1:*', 'http://localhost:*'];

/** Bundlers name these files after their content. */
const hashedFolder = '/assets/';

/**
 * @param options.path - without a slash at its end, for example `/payee`
 * @param options.folder - has `index.html`; files in its `assets` never change under their names. `x.js.br` beside `x.js` is the same file,
 *   compressed: browsers that take Brotli get it
 * @param options.connectTo - as {@link createPageHeaders}
 * @param options.readersPage - a file of the folder, for example `audit.html`, whose reader names the nodes: it may ask every origin over
 *   TLS, and this machine. It must have no secret
 */
export function addPageFolder(
  app: Shell,
  options: {
    readonly path: string;
    readonly folder: string;
    readonly connectTo?: readonly string[];
    readonly readersPage?: string;
  },
): void {
  const { path, folder, connectTo, readersPage } = options;
  const pageHeaders = createPageHeaders(connectTo);
  const readerHeaders = createPageHeaders(anyNode);
  const serve = serveStatic({
    root: folder,
    rewriteRequestPath: (requested) => requested.slice(path.length),
    precompressed: true,
  });
  // Relative addresses of the page begin at the slash.
  app.get(path, (c) => c.redirect(`${path}/`, 308));
  app.get(`${path}/*`, async (c, next) => {
    const answer = await serve(c, async () => undefined);
    if (answer === undefined) {
      return await next();
    }
    const isHashed = c.req.path.startsWith(`${path}${hashedFolder}`);
    answer.headers.set(
      'cache-control',
      isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    );
    const isReaders = readersPage !== undefined && c.req.path === `${path}/${readersPage}`;
    for (const [name, value] of Object.entries(isReaders ? readerHeaders : pageHeaders)) {
      answer.headers.set(name, value);
    }
    return answer;
  });
}
