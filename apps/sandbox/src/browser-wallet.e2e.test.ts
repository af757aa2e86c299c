// The core of @pool/wallet in a real browser, bundled by Vite: it finds a holder's notes on a real chain, and plans a withdrawal.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Secret } from '@pool/core';
import { hasBrowser, openBrowser, openPage, servePage } from '@pool/testkit/browser';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSession } from './chain/people.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';

const pageFolder = fileURLToPath(new URL('../../../packages/wallet/test/browser', import.meta.url));
describe.skipIf(!hasBrowser)(
  'the core of a wallet in a browser (without Chromium it is skipped)',
  () => {
    let stack: TestStack;
    let browser: Awaited<ReturnType<typeof openBrowser>>;
    let server: Awaited<ReturnType<typeof servePage>>;
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
      server = await servePage({ folder, targets });
      browser = await openBrowser();
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

      const { origin } = server;
      const { page, errors } = await openPage(browser, origin);
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
