// The page's real accounts in Chromium with virtual authenticators: a second passkey, a lost device, and the account file in another browser.
// No platform answers: keys need none.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { addPageFolder, createLog, createShell, serveHttp } from '@pool/http-server';
import { testEvidenceDomain } from '@pool/testkit';
import { hasBrowser, openBrowser, openPage } from '@pool/testkit/browser';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testSettings } from '../../../packages/relayer/test/test-settings.ts';

const app = resolve(import.meta.dirname, '..');

type Page = Awaited<ReturnType<typeof openPage>>['page'];

describe.skipIf(!hasBrowser)('passkeys of the page (without Chromium it is skipped)', () => {
  let folder: string;
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  let server: Awaited<ReturnType<typeof serveHttp>>;
  let url: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pool-passkeys-'));
    await build({
      ...{ configFile: join(app, 'vite.config.js'), root: app, logLevel: 'error' },
      build: { outDir: folder, emptyOutDir: true },
    });
    const chains = { test: { ...testSettings, rpcUrl: 'http://127.0.0.1:9' } };
    await writeFile(
      join(folder, 'chains.json'),
      JSON.stringify({ evidence: testEvidenceDomain, chains }),
    );
    const shell = createShell({
      ...{ log: createLog('silent', 'test'), allowedHosts: [], allowedOrigins: 'hosts' },
    });
    addPageFolder(shell, { path: '/payee', folder });
    server = await serveHttp((request, from) => shell.fetch(request, from), {
      ...{ host: '127.0.0.1', port: 0, onRefused: () => undefined },
    });
    // Passkeys are bound to names, and an IP address is none.
    url = `http://localhost:${new URL(server.url).port}/payee/`;
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  const press = (page: Page, name: string) =>
    page.getByRole('button', { name, exact: true }).click();
  const see = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();

  it('open the account when a device is lost, and in a browser that has the file alone', async () => {
    const { page } = await openPage(browser, 'about:blank');
    const client = await page.context().newCDPSession(page);
    await client.send('WebAuthn.enable');
    async function addAuthenticator(transport: 'internal' | 'usb'): Promise<string> {
      const options = {
        protocol: 'ctap2',
        ctap2Version: 'ctap2_1',
        ...{ transport, hasPrf: true, automaticPresenceSimulation: true },
        ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
      } as const;
      return (await client.send('WebAuthn.addVirtualAuthenticator', { options })).authenticatorId;
    }
    const first = await addAuthenticator('internal');
    await page.goto(url);
    // From the words of another browser: the account is made without a platform.
    await press(page, 'Restore an account from its words');
    // The entropy 0x7f…7f in BIP-39.
    const eight = 'legal winner thank year wave sausage worth';
    const words = `${eight} useful ${eight} useful ${eight} title`;
    await page.getByLabel('Recovery words').fill(words);
    await press(page, 'Restore');
    await press(page, 'Make a passkey');
    await page.getByRole('link', { name: 'Ways to open your account' }).click();
    // A person puts the first device away before the new passkey is made: a device that lacks a passkey answers for it too.
    await page.exposeFunction('changeDevice', async () => {
      const options = { authenticatorId: first, enabled: false };
      await client.send('WebAuthn.setAutomaticPresenceSimulation', options);
      await addAuthenticator('usb');
    });
    await page.evaluate(`const { credentials } = navigator;
      const create = credentials.create.bind(credentials);
      credentials.create = async (options) => { await changeDevice(); return await create(options); };`);
    await page.getByLabel('Name of the passkey').fill('security key');
    await press(page, 'Add a passkey');
    await see(page, 'The passkey opens your account.');
    const downloading = page.waitForEvent('download');
    await press(page, 'Download the account file');
    const file = await (await downloading).path();
    await client.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: first });
    await press(page, 'Lock');
    await press(page, 'Open with my passkey');
    await press(page, 'Remove passkey');
    await expect.poll(() => page.getByText('Made on').count()).toBe(1);
    await page.evaluate(`indexedDB.deleteDatabase('pool-account')`);
    await page.reload();
    await press(page, 'Restore an account from its words');
    await page.getByLabel('Or choose the account file').setInputFiles(file);
    await page.getByText('Made on').nth(1).waitFor();
  });
});
