// What other pages and other people of the same computer get from the real page: no passkey, no handle, no file, no secret of its store. And
// two tabs that change the account at once.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bytesToHex } from '@pool/core';
import { testEvidenceDomain } from '@pool/testkit';
import {
  addAuthenticator,
  copyProfile,
  findInClear,
  hasBrowser,
  openBrowser,
  openPage,
  press,
  shareDevices,
} from '@pool/testkit/browser';
import { deriveWalletKey, openAccount, parseRecoveryWords } from '@pool/wallet/browser';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { restoreAccount, serveRealPage, wordsOf7f } from './real-page.ts';
import type { Page } from './served-page.ts';

describe.skipIf(!hasBrowser)('attacks on the real page (without Chromium it is skipped)', () => {
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  let server: Awaited<ReturnType<typeof serveRealPage>>;
  /** Serves an empty page under every name of this machine. */
  const other = createServer((_, answer) => {
    answer.setHeader('content-type', 'text/html').end('<title>other</title>');
  });
  let otherPort: number;
  beforeAll(async () => {
    server = await serveRealPage();
    browser = await openBrowser();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    otherPort = (other.address() as AddressInfo).port;
  });
  afterAll(async () => {
    await browser.close();
    await server.close();
    other.close();
  });

  async function openEmpty(): Promise<Page> {
    const { page } = await openPage(browser, 'about:blank');
    onTestFinished(() => page.context().close());
    return page;
  }

  /** Asks as the page does. @returns the PRF output in hex, or the name of the browser's refusal */
  const askPasskey = (
    page: Page,
    id: string,
    rpId: string | undefined,
    timeoutMs = 5_000,
  ): Promise<unknown> =>
    page.evaluate(`navigator.credentials.get({ publicKey: {
      rpId: ${JSON.stringify(rpId)},
      challenge: new Uint8Array(32),
      allowCredentials: [{ type: 'public-key', id: Uint8Array.fromBase64('${id}') }],
      userVerification: 'required',
      timeout: ${timeoutMs},
      extensions: { prf: { eval: { first: new Uint8Array(32) } } },
    } }).then((found) => new Uint8Array(found.getClientExtensionResults().prf.results.first).toHex(), (error) => error.name)`);

  it('gives the passkey to no page of another host', async () => {
    const page = await openEmpty();
    const client = await page.context().newCDPSession(page);
    const authenticatorId = await addAuthenticator(client);
    await page.goto(server.url);
    await restoreAccount(page, wordsOf7f);
    const { credentials } = await client.send('WebAuthn.getCredentials', { authenticatorId });
    const id = String(credentials[0]?.credentialId);
    // The same question, of the page itself.
    expect(await askPasskey(page, id, 'localhost', 60_000)).toMatch(/^[0-9a-f]{64}$/);
    await page.goto(`http://evil.localhost:${otherPort}/`);
    expect(await askPasskey(page, id, 'localhost')).toBe('SecurityError');
    expect(await askPasskey(page, id, undefined)).toBe('NotAllowedError');
    await page.goto(`http://127.0.0.1:${otherPort}/`);
    expect(await askPasskey(page, id, 'localhost')).toBe('SecurityError');
    // A name is of all its ports: nothing else may be served under it.
    await page.goto(`http://localhost:${otherPort}/`);
    expect(await askPasskey(page, id, undefined, 60_000)).toMatch(/^[0-9a-f]{64}$/);
  });

  it('gives no handle, message, file or store to a page of another origin that opens it', async () => {
    const page = await openEmpty();
    await shareDevices(page.context());
    await page.goto(`http://evil.localhost:${otherPort}/`);
    const opening = page.waitForEvent('popup');
    await page.evaluate(`void (globalThis.opened = open('${server.url}', 'payee'))`);
    const popup = await opening;
    await restoreAccount(popup, wordsOf7f);
    await popup.evaluate(`addEventListener('message', () => { globalThis.heard = true; })`);
    expect(await popup.evaluate('opener')).toBeNull();
    expect(await page.evaluate('opened.closed')).toBe(true);
    await page.evaluate(`opened.postMessage({ id: 1, name: 'exportFile' }, '*')`);
    const reached = await page.evaluate(`(async () => {
      const ask = (init) => fetch('${server.url}chains.json', init).then(() => 'read', (error) => error.name);
      const picture = new Image();
      const loaded = new Promise((resolve) => { picture.onload = () => resolve('shown'); picture.onerror = () => resolve('refused'); });
      picture.src = '${server.url}icon.svg';
      const frame = document.createElement('iframe');
      frame.src = '${server.url}';
      document.body.append(frame);
      return [
        await ask({}), await ask({ credentials: 'include' }), await ask({ mode: 'no-cors' }), await loaded,
        (await indexedDB.databases()).length, (await caches.keys()).length, localStorage.length,
      ];
    })()`);
    expect(reached).toEqual(['TypeError', 'TypeError', 'TypeError', 'refused', 0, 0, 0]);
    await expect.poll(() => page.frames()[1]?.url()).toMatch(/^chrome-error:/);
    expect(await popup.evaluate('globalThis.heard')).toBeUndefined();
  });

  it('stores no seed, words or key in clear, locked and open', async () => {
    const page = await openEmpty();
    await shareDevices(page.context());
    await page.goto(server.url);
    await restoreAccount(page, wordsOf7f);
    const seed = parseRecoveryWords(wordsOf7f);
    const account = await openAccount(seed, testEvidenceDomain.domain);
    const viewingKey = account.viewingKey.reveal();
    const secrets = {
      seed: seed.reveal(),
      words: wordsOf7f.slice(0, 30),
      'wallet key': deriveWalletKey(seed).reveal(),
      'viewing key': Buffer.from(viewingKey.toString(16).padStart(64, '0'), 'hex'),
      'viewing key as a number': String(viewingKey),
    };
    const { address } = account;
    for (const lock of [false, true]) {
      if (lock) await press(page, 'Lock');
      const copy = await copyProfile(page);
      // What is public is there, so the copy is one.
      expect(findInClear(copy, { address })).toEqual(['address']);
      expect(findInClear(copy, secrets)).toEqual([]);
    }
    // And a secret that is stored is found.
    const hex = bytesToHex(seed.reveal());
    await page.evaluate(`localStorage.setItem('note', JSON.stringify({ seed: '${hex}' }))`);
    expect(findInClear(await copyProfile(page), secrets)).toEqual(['seed']);
  });

  it('keeps the passkeys of two tabs that add one at the same moment', async () => {
    const page = await openEmpty();
    const context = page.context();
    await shareDevices(context);
    // People take a moment, in which the other tab changes the account too.
    await context.addInitScript(`{
      const { get } = navigator.credentials;
      navigator.credentials.get = async (asked) => {
        await new Promise((resolve) => setTimeout(resolve, 400));
        return await get(asked);
      };
    }`);
    await page.goto(server.url);
    await restoreAccount(page, wordsOf7f);
    const second = await context.newPage();
    await second.goto(server.url);
    await press(second, 'Open with my passkey');
    const tabs = [page, second];
    for (const [index, tab] of tabs.entries()) {
      await tab.getByRole('link', { name: 'Ways to open your account' }).click();
      await tab.getByLabel('Name of the passkey').fill(`device of tab ${index}`);
    }
    // At once, also in the tab that is behind the other one.
    const pressTogether = (name: (index: number) => string) =>
      Promise.all(
        tabs.map((tab, index) =>
          tab.getByRole('button', { name: name(index), exact: true }).dispatchEvent('click'),
        ),
      );
    await pressTogether(() => 'Add a passkey');
    for (const tab of tabs) await tab.getByText('The passkey opens your account.').waitFor();
    await second.reload();
    await press(second, 'Open with my passkey');
    await second.getByText('Made on').nth(2).waitFor();
    for (const index of tabs.keys())
      await second.getByText(`device of tab ${index}`, { exact: true }).waitFor();
    // Both remove: one passkey stays, which opens the account.
    await page.reload();
    await press(page, 'Open with my passkey');
    await page.getByText('Made on').nth(2).waitFor();
    await pressTogether((index) => `Remove device of tab ${index}`);
    for (const [index, tab] of tabs.entries()) {
      await expect.poll(() => tab.getByText(`Remove device of tab ${index}`).count()).toBe(0);
    }
    for (const tab of tabs) {
      await tab.reload();
      await press(tab, 'Open with my passkey');
      await expect.poll(() => tab.getByText('Made on').count()).toBe(1);
    }
  });
});
