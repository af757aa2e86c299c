// The real page with its real worker, built and served. No platform answers it: keys need none.

import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { addPageFolder, createLog, createShell, serveHttp } from '@pool/http-server';
import { testEvidenceDomain } from '@pool/testkit';
import { press } from '@pool/testkit/browser';
import { build } from 'vite';
import { vi } from 'vitest';
import { testSettings } from '../../../packages/relayer/test/test-settings.ts';
import type { Page } from './served-page.ts';

const app = resolve(import.meta.dirname, '..');

/** The entropy 0x7f…7f in BIP-39. */
export const wordsOf7f: string = (() => {
  const eight = 'legal winner thank year wave sausage worth';
  return `${eight} useful ${eight} useful ${eight} title`;
})();

/** `url` is of the page, under a name: passkeys are bound to names, and an IP address is none. */
export async function serveRealPage() {
  const folder = await mkdtemp(join(tmpdir(), 'pool-real-page-'));
  // The tests' own would make it larger.
  vi.stubEnv('NODE_ENV', 'production');
  await build({
    ...{ configFile: join(app, 'vite.config.js'), root: app, logLevel: 'error' },
    build: { outDir: folder, emptyOutDir: true },
  }).finally(() => vi.unstubAllEnvs());
  const chains = { test: { ...testSettings, rpcUrl: 'http://127.0.0.1:9' } };
  await writeFile(
    join(folder, 'chains.json'),
    JSON.stringify({ evidence: testEvidenceDomain, chains }),
  );
  const shell = createShell({
    ...{ log: createLog('silent', 'test'), allowedHosts: [], allowedOrigins: 'hosts' },
  });
  addPageFolder(shell, { path: '/payee', folder });
  const server = await serveHttp((request, from) => shell.fetch(request, from), {
    ...{ host: '127.0.0.1', port: 0, onRefused: () => undefined },
  });
  const url = `http://localhost:${new URL(server.url).port}/payee/`;
  return {
    url,
    /** Bytes of a file of the page as the server sends it: compressed, if it is there compressed. 0 for other addresses. */
    async measure(address: string): Promise<number> {
      const path = join(folder, address.startsWith(url) ? address.slice(url.length) : '/');
      const found = await Promise.all(
        [`${path}.br`, path].map((file) => stat(file).catch(() => undefined)),
      );
      return found.find((file) => file?.isFile())?.size ?? 0;
    },
    async close() {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** An account in a browser that has none: from its words, kept by a passkey. */
export async function restoreAccount(page: Page, words: string): Promise<void> {
  await press(page, 'Restore an account from its words');
  await page.getByLabel('Recovery words').fill(words);
  await press(page, 'Restore');
  await press(page, 'Make a passkey');
  await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
}
