// The page's real accounts in Chromium with virtual authenticators: a second passkey, a lost device, and the account file in another browser.
// No platform answers: keys need none.
import { addAuthenticator, hasBrowser, openBrowser, openPage, press } from '@pool/testkit/browser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { restoreAccount, serveRealPage, wordsOf7f } from './real-page.ts';
import type { Page } from './served-page.ts';

/** Of all files that an open account takes, compressed. */
const maxAccountBytes = 250_000;

describe.skipIf(!hasBrowser)('passkeys of the page (without Chromium it is skipped)', () => {
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  let server: Awaited<ReturnType<typeof serveRealPage>>;
  beforeAll(async () => {
    server = await serveRealPage();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
  });

  const see = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();

  it(`open an account with at most ${maxAccountBytes / 1_000} kB, compressed`, async () => {
    const { page } = await openPage(browser, 'about:blank');
    await addAuthenticator(await page.context().newCDPSession(page));
    const asked = new Set<string>();
    page.context().on('request', (request) => {
      // The service worker keeps the whole release, behind the page.
      if (request.serviceWorker() === null) asked.add(request.url());
    });
    await page.goto(`${server.url}index.html`);
    await restoreAccount(page, wordsOf7f);
    const sizes = await Promise.all([...asked].map((address) => server.measure(address)));
    const names = [...asked].map((address) => address.replace(/^.*\//u, ''));
    for (const part of ['index.html', 'index-', 'wallet-worker-', 'payee-wallet-']) {
      expect(names.some((name) => name.startsWith(part))).toBe(true);
    }
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(maxAccountBytes);
  });

  it('open the account when a device is lost, and in a browser that has the file alone', async () => {
    const { page } = await openPage(browser, 'about:blank');
    const client = await page.context().newCDPSession(page);
    const first = await addAuthenticator(client);
    await page.goto(server.url);
    // From the words of another browser: the account is made without a platform.
    await restoreAccount(page, wordsOf7f);
    await page.getByRole('link', { name: 'Ways to open your account' }).click();
    // A person puts the first device away before the new passkey is made: a device that lacks a passkey answers for it too.
    await page.exposeFunction('changeDevice', async () => {
      const options = { authenticatorId: first, enabled: false };
      await client.send('WebAuthn.setAutomaticPresenceSimulation', options);
      await addAuthenticator(client, { transport: 'usb' });
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

  it('are not needed by a file with a password, once it was tried', async () => {
    const { page } = await openPage(browser, 'about:blank');
    await addAuthenticator(await page.context().newCDPSession(page));
    await page.goto(server.url);
    await restoreAccount(page, wordsOf7f);
    const address = await page.locator('code').first().textContent();
    await page.getByRole('link', { name: 'Ways to open your account' }).click();
    const password = 'kelp otter tango lamp';
    await page.getByLabel('New password').fill(password);
    await page.getByLabel('The same password again').fill(password);
    const downloading = page.waitForEvent('download');
    await press(page, 'Make the file');
    const file = await (await downloading).path();
    await page.getByLabel('Now try it').setInputFiles(file);
    await page.getByLabel('Its password').fill(password);
    await press(page, 'Try the file');
    await see(page, 'A file opened your account on');

    const other = await openPage(browser, 'about:blank');
    await addAuthenticator(await other.page.context().newCDPSession(other.page));
    await other.page.goto(server.url);
    await press(other.page, 'Restore an account from its words');
    await other.page.getByLabel('The file that opens your account').setInputFiles(file);
    await other.page.getByLabel('Its password').fill('another password');
    await press(other.page, 'Open the file');
    await see(other.page, 'This password does not open this file');
    await other.page.getByLabel('Its password').fill(password);
    await press(other.page, 'Open the file');
    await press(other.page, 'Make a passkey');
    await other.page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    expect(await other.page.locator('code').first().textContent()).toBe(address);
    await press(other.page, 'Lock');
    await press(other.page, 'Open with my passkey');
    await other.page.getByRole('link', { name: 'Ways to open your account' }).click();
    await see(other.page, 'A file opened your account on');
  });
});
