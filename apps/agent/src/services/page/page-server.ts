/**
 * The payee's page from a folder on this machine. What it asks of the platform goes through here, because its session needs one origin.
 *
 * @module
 */
import { readFile } from 'node:fs/promises';
import { type ChainsFile, type CircuitName, listRpcUrls, PoolError } from '@pool/core';
import { addPageFolder, createShell, type HttpServer, type Log, listen } from '@pool/http-server';
import { proxy } from 'hono/proxy';

/** Files of a circuit, as `createArtifactStore` gives them. */
export type PageArtifacts = (circuit: CircuitName) => Promise<{
  readonly wasm: string;
  readonly zkey: string;
  readonly verificationKey: unknown;
}>;

export type PageServerOptions = {
  /** Files of the page. */
  readonly folder: string;
  readonly port: number;
  /** Base URL. */
  readonly platformUrl: string;
  /** With one chain: what the page reads in place of the platform's. */
  readonly chains: ChainsFile;
  readonly artifacts: PageArtifacts;
  readonly log: Log;
};

const timeoutMs = 120_000;
/** The page proves spends of these. */
const circuits: readonly string[] = ['spend-2x4', 'spend-16x8'] satisfies readonly CircuitName[];

/**
 * Listens on this machine only. Passkeys need the name `localhost`: an IP address has none.
 * @throws PoolError `cannot_listen`
 */
export async function servePage(options: PageServerOptions): Promise<HttpServer> {
  const { folder, port, chains, artifacts, log } = options;
  const own = `http://localhost:${port}`;
  const platform = new URL(options.platformUrl).origin;
  // Another page on this machine is of the same site, and the browser would send the session with its requests.
  const app = createShell({ log, answeredLevel: 'debug', allowedHosts: [], allowedOrigins: [own] });
  app.get('/payee/chains.json', (c) => c.json(chains));
  app.get('/payee/circuits/:circuit/:file', async (c) => {
    const { circuit, file } = c.req.param();
    if (!circuits.includes(circuit)) return c.notFound();
    const { wasm, zkey, verificationKey } = await artifacts(circuit as CircuitName);
    if (file === 'verification-key.json') return c.json(verificationKey as object);
    const path = { 'circuit.wasm': wasm, 'proving-key.pzky': zkey }[file];
    return path === undefined ? c.notFound() : c.body(await readFile(path));
  });
  addPageFolder(app, {
    ...{ path: '/payee', folder },
    connectTo: Object.values(chains.chains)
      .flatMap(listRpcUrls)
      .map((url) => new URL(url).origin),
  });
  for (const path of ['/api/*', '/agent-edge/*']) {
    app.all(path, async (c) => {
      const { pathname, search } = new URL(c.req.url);
      const headers = new Headers(c.req.raw.headers);
      for (const name of ['host', 'referer', 'x-forwarded-for']) headers.delete(name);
      if (headers.has('origin')) headers.set('origin', platform);
      try {
        return await proxy(`${platform}${pathname}${search}`, {
          ...{ raw: c.req.raw, headers, redirect: 'manual' },
          signal: AbortSignal.timeout(timeoutMs),
        });
      } catch (cause) {
        throw new PoolError('platform_unreachable', `the platform ${platform} does not answer`, {
          cause,
        });
      }
    });
  }
  return await listen(
    (request, connection) => app.fetch(request, connection),
    { host: '127.0.0.1', port },
    log,
  );
}
