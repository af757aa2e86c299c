// The core of @pool/wallet in a real browser, bundled by Vite: it finds a holder's notes on a real chain, and plans a withdrawal.
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serve as listen, type ServerType } from '@hono/node-server';
import { Secret } from '@pool/core';
import { type Browser, chromium } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSession } from './chain/people.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';

/** Debian's. */
const browserPath = '/usr/bin/chromium';
const pageFolder = fileURLToPath(new URL('../../../packages/wallet/test/browser', import.meta.url));
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
};

type Targets = Readonly<Record<string, string>>;

/** Serves the page under a strict policy, and takes its calls to chain and platform on to them: a page reaches its own origin only. */
async function serve(folder: string, targets: Targets, request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const prefix = Object.keys(targets).find((known) => pathname.startsWith(known));
  if (prefix !== undefined) {
    const path = pathname.slice(prefix.length);
    return fetch(new Request(`${targets[prefix]}${path}${search}`, request));
  }
  const file = join(folder, pathname === '/' ? 'index.html' : pathname);
  return new Response(await readFile(file), {
    headers: {
      'content-type': types[extname(file)] ?? 'application/octet-stream',
      'content-security-policy':
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'",
    },
  });
}

describe.skipIf(!existsSync(browserPath))(
  'the core of a wallet in a browser (without Chromium it is skipped)',
  () => {
    let stack: TestStack;
    let browser: Browser;
    let server: ServerType;
    let origin: string;
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'pool-page-'));
      await build({
        root: pageFolder,
        base: '.',
        logLevel: 'error',
        resolve: { conditions: ['@pool/source', 'browser', 'module', 'import'] },
        build: { outDir: folder, emptyOutDir: true, target: 'es2024' },
      });
      stack = await startTestStack({ holderCount: 2 });
      const targets = { '/rpc': stack.rpcUrl, '/platform': stack.platformUrl };
      origin = await new Promise((resolve) => {
        server = listen(
          { fetch: (request) => serve(folder, targets, request), hostname: '127.0.0.1', port: 0 },
          ({ port }) => resolve(`http://127.0.0.1:${port}`),
        );
      });
      browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
    });
    afterAll(async () => {
      await browser.close();
      server.close();
      await stack.end();
      await rm(folder, { recursive: true, force: true });
    });

    it('finds the notes of two batches, adds them up, and plans a withdrawal', async () => {
      const [holder] = stack.holders;
      const settings = stack.chains.chains[stack.chain];
      if (holder === undefined || settings?.family !== 'evm') {
        throw new Error('the stack has no holder, or no chain');
      }
      for (const [key, amounts] of Object.entries({
        first: { 0: 600n, 1: 5n },
        second: { 0: 90n },
      })) {
        await stack.client.disburse(key, stack.createRequest(amounts));
        expect(await stack.client.waitForJob(key)).toMatchObject({ state: 'done' });
      }
      const session = await openSession(new Secret(holder.privateKey), stack);
      const { apiKey } = await session.mintKey('holder.read', 'a page');

      const page = await browser.newPage();
      const errors: string[] = [];
      page.on('pageerror', ({ message }) => errors.push(message));
      page.on('console', (line) => {
        if (line.type() === 'error') errors.push(line.text());
      });
      await page.goto(origin);
      const { walletPub, address, encryptionPublicKey, viewingKey } = holder;
      const output = await page.evaluate(
        (input) =>
          (globalThis as unknown as { runWallet: (given: unknown) => unknown }).runWallet(input),
        {
          chain: stack.chain,
          settings: { ...settings, rpcUrl: `${origin}/rpc` },
          token: 'USDC',
          edge: { url: `${origin}/platform/agent-edge`, key: apiKey.reveal() },
          holder: { walletPub, address, encryptionPublicKey, viewingKey },
          amount: '650',
        },
      );
      expect(errors).toEqual([]);
      expect(output).toMatchObject({
        ...{ total: '690', notes: 2 },
        receipt: { operation: 'send', status: 'dry-run', changeAmount: '40' },
      });
    });
  },
);
