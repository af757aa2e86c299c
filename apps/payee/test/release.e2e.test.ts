// A release of the page in a real browser: its files are pinned, and another release waits for consent.
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { addPageFolder, createLog, createShell, serveHttp } from '@pool/http-server';
import { hasBrowser, openBrowser, openPage } from '@pool/testkit/browser';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

const app = resolve(import.meta.dirname, '..');

async function makeFolder(): Promise<string> {
  return await mkdtemp(join(tmpdir(), 'pool-release-'));
}

/** @param title - makes another release */
async function buildRelease(title: string): Promise<string> {
  const folder = await makeFolder();
  await build({
    configFile: join(app, 'vite.config.js'),
    root: join(app, 'test/page'),
    publicDir: join(app, 'public'),
    logLevel: 'error',
    plugins: [
      {
        name: 'title',
        transform: (code, id) =>
          id.endsWith('/texts.ts') ? code.replace('Your private account', title) : undefined,
      },
    ],
    build: { outDir: folder, emptyOutDir: true },
  });
  return folder;
}

async function digestOf(folder: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(join(folder, 'release.json')))
    .digest('hex');
}

/** Changes a file and its compressed form. */
async function addToFile(folder: string, pattern: RegExp, text: string): Promise<void> {
  const names = await readdir(folder, { recursive: true });
  const file = join(folder, names.find((name) => pattern.test(name)) ?? '');
  const changed = (await readFile(file, 'utf8')) + text;
  await writeFile(file, changed);
  await writeFile(`${file}.br`, brotliCompressSync(changed));
}

describe.skipIf(!hasBrowser)(
  "a release of the payee's page (without Chromium it is skipped)",
  () => {
    const titles = ['First release', 'Second release'] as const;
    let folders: Readonly<Record<(typeof titles)[number], string>>;
    let browser: Awaited<ReturnType<typeof openBrowser>>;
    beforeAll(async () => {
      const [first, second] = [await buildRelease(titles[0]), await buildRelease(titles[1])];
      folders = { 'First release': first, 'Second release': second };
      browser = await openBrowser();
    });
    afterAll(async () => {
      await browser.close();
      for (const folder of Object.values(folders))
        await rm(folder, { recursive: true, force: true });
    });

    /** A server whose files can be replaced. */
    async function openServer(
      first: (typeof titles)[number],
      { port = 0, connectTo = [] }: { readonly port?: number; readonly connectTo?: string[] } = {},
    ) {
      const folder = await makeFolder();
      const shell = createShell({
        ...{ log: createLog('silent', 'test'), allowedHosts: [], allowedOrigins: 'hosts' },
      });
      addPageFolder(shell, { path: '/payee', folder, connectTo });
      const server = await serveHttp((request, from) => shell.fetch(request, from), {
        ...{ host: '127.0.0.1', port, onRefused: () => undefined },
      });
      async function put(release: (typeof titles)[number]): Promise<void> {
        await rm(folder, { recursive: true, force: true });
        await cp(folders[release], folder, { recursive: true });
      }
      await put(first);
      onTestFinished(async () => {
        await server.close();
        await rm(folder, { recursive: true, force: true });
      });
      return { folder, put, url: `${server.url}/payee/`, close: () => server.close() };
    }

    async function visit(url: string) {
      const { page, errors } = await openPage(browser, url);
      onTestFinished(() => page.context().close());
      const titled = (title: string) =>
        page.getByRole('heading', { level: 1, name: title }).waitFor();
      const runs = (digest: string) => page.getByText(`Version ${digest.slice(0, 8)}`).waitFor();
      return { page, errors, titled, runs };
    }

    it('stays until its user changes to another one, and works without the server', async () => {
      const [first, second] = [
        await digestOf(folders[titles[0]]),
        await digestOf(folders[titles[1]]),
      ];
      const server = await openServer(titles[0]);
      const { page, errors, titled, runs } = await visit(server.url);
      await titled(titles[0]);
      await runs(first);
      await server.put(titles[1]);
      await page.reload();
      await titled(titles[0]);
      const question = page.getByRole('heading', { name: 'The server has another version' });
      await question.waitFor();
      await page.getByText(second, { exact: true }).waitFor();
      // Nothing changes on its own, in another tab either.
      const other = await page.context().newPage();
      await other.goto(server.url);
      await other.getByRole('heading', { level: 1, name: titles[0] }).waitFor();
      await page.getByRole('button', { name: 'Change the version and reload' }).click();
      await titled(titles[1]);
      await runs(second);
      expect(await question.count()).toBe(0);
      // What this browser ran before is called so.
      await server.put(titles[0]);
      await page.reload();
      await page.getByText('it is perhaps an older one').waitFor();
      await titled(titles[1]);
      await server.close();
      await page.reload();
      await titled(titles[1]);
      expect(errors.filter((error) => !error.includes('ERR_CONNECTION'))).toEqual([]);
    });

    it('is not installed with a file that another digest was published for', async () => {
      const server = await openServer(titles[0]);
      const { page, titled, runs } = await visit(server.url);
      await runs(await digestOf(folders[titles[0]]));
      await server.put(titles[1]);
      await addToFile(server.folder, /^assets\/.*\.css$/, ' body { color: red }');
      await page.reload();
      await titled(titles[0]);
      await runs(await digestOf(folders[titles[0]]));
      expect(await page.getByText('The server has another version').count()).toBe(0);
    });

    it('asks the nodes that its server allows now', async () => {
      const server = await openServer(titles[0]);
      const { page, runs } = await visit(server.url);
      const digest = await digestOf(folders[titles[0]]);
      await runs(digest);
      const ask = () =>
        page.evaluate(`new Promise((resolve) => {
        addEventListener('securitypolicyviolation', () => resolve('stopped'));
        fetch('http://127.0.0.1:4999').catch(() => setTimeout(() => resolve('asked'), 500));
      })`);
      expect(await ask()).toBe('stopped');
      await server.close();
      const port = Number(new URL(server.url).port);
      await openServer(titles[0], { port, connectTo: ['http://127.0.0.1:4999'] });
      await page.reload();
      await runs(digest);
      await page.reload();
      await runs(digest);
      expect(await ask()).toBe('asked');
    });

    it('runs no script that was changed after the build, at the first visit', async () => {
      const server = await openServer(titles[0]);
      const change = "\n;document.title = 'changed';";
      await addToFile(server.folder, /^assets\/index-.*\.js$/, change);
      const { page, errors } = await visit(server.url);
      await expect.poll(() => errors.join('\n')).toContain("'integrity'");
      expect(await page.title()).toBe('Pool');
      expect(await page.locator('h1').count()).toBe(0);
    });

    it('is the same when it is built again', async () => {
      const again = await buildRelease(titles[0]);
      onTestFinished(() => rm(again, { recursive: true, force: true }));
      expect(await digestOf(again)).toBe(await digestOf(folders[titles[0]]));
    });
  },
);
