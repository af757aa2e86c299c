// A built page as the platform serves it, in a phone, and what every view must be: without findings of axe-core, and not too wide.
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { addPageFolder, createLog, createShell, serveHttp } from '@pool/http-server';
import { inspectView, type openBrowser, openPage } from '@pool/testkit/browser';
import { build } from 'vite';
import { expect, onTestFinished } from 'vitest';

export type Page = Awaited<ReturnType<typeof openPage>>['page'];

/** Without it no pictures are kept. */
const pictures = process.env['PAYEE_PICTURES'];

/** The page over a fake wallet. @returns its folder, for the caller to remove */
export async function buildFakePage(): Promise<string> {
  const app = resolve(import.meta.dirname, '..');
  const folder = await mkdtemp(join(tmpdir(), 'pool-payee-'));
  await build({
    configFile: join(app, 'vite.config.js'),
    root: join(app, 'test/page'),
    publicDir: join(app, 'public'),
    logLevel: 'error',
    build: { outDir: folder, emptyOutDir: true },
  });
  return folder;
}

/** @param query - behind the page's folder in the address */
export async function openServed(
  browser: Awaited<ReturnType<typeof openBrowser>>,
  folder: string,
  query: string,
) {
  const shell = createShell({
    ...{ log: createLog('silent', 'test'), allowedHosts: [], allowedOrigins: 'hosts' },
  });
  addPageFolder(shell, { path: '/payee', folder, readersPage: 'audit.html' });
  const server = await serveHttp((request, from) => shell.fetch(request, from), {
    ...{ host: '127.0.0.1', port: 0, onRefused: () => undefined },
  });
  const { page, errors } = await openPage(browser, `${server.url}/payee/${query}`);
  await page.setViewportSize({ width: 390, height: 844 });
  const asked = new Set<string>();
  // The origin of a `blob:` address is the page's.
  page.on('request', (request) => asked.add(new URL(request.url()).origin));
  onTestFinished(async () => {
    await page.context().close();
    await server.close();
  });
  return {
    page,
    url: server.url,
    /** What the policy stops is an error in the console. @param nodes - other origins that were asked */
    expectClean(nodes: readonly string[] = []) {
      expect(errors).toEqual([]);
      asked.delete(new URL(server.url).origin);
      expect([...asked].sort()).toEqual([...nodes].sort());
    },
  };
}

/** Waits for a view, and checks it in both schemes, on a phone. */
export async function look(page: Page, title: string, name: string): Promise<void> {
  if (pictures !== undefined) {
    await mkdir(pictures, { recursive: true });
  }
  const picture = pictures === undefined ? undefined : join(pictures, name);
  expect([name, await inspectView(page, title, picture)]).toEqual([name, []]);
}
