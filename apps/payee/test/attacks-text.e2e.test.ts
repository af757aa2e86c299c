// Texts of strangers that would be programs: in every place that shows one, in the address of the page, and in names of files.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { hasBrowser, openBrowser, press } from '@pool/testkit/browser';
import { Wallet } from 'ethers';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openServed, type Page } from './served-page.ts';

const app = resolve(import.meta.dirname, '..');
const hostile = `"'><img src=x onerror=globalThis.ran=1><script>globalThis.ran=1</script><a href="javascript:globalThis.ran=1">x</a>\${globalThis.ran=1}{{globalThis.ran=1}}`;
/** Of a wallet, whose name is cut. */
const brief = '<img src=x onerror=ran=1>';
const stranger = `stranger=${encodeURIComponent(hostile)}`;
const fragment = `#payslip/${encodeURIComponent(hostile)}${hostile}`;

describe.skipIf(!hasBrowser)('texts of strangers (without Chromium it is skipped)', () => {
  let folder: string;
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pool-texts-'));
    await build({
      ...{ configFile: join(app, 'vite.config.js'), root: join(app, 'test/page') },
      ...{ publicDir: join(app, 'public'), logLevel: 'error' },
      build: { outDir: folder, emptyOutDir: true },
    });
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** The text is shown, as text: it made no element, and nothing of it ran. */
  async function showsText(page: Page, shown = hostile): Promise<void> {
    await page.getByText(shown).first().waitFor();
    await noneRan(page);
  }
  async function noneRan(page: Page): Promise<void> {
    const made = 'img, script:not([src]), [onerror], a[href^="javascript:"]';
    expect(await page.evaluate(`document.querySelectorAll('${made}').length`)).toBe(0);
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
  }

  it('are texts in an invitation, and as the name of a file', async () => {
    const { page, expectClean } = await openServed(browser, folder, `?invitation=x&${stranger}`);
    await page.getByRole('heading', { level: 1, name: `${hostile} invites you` }).waitFor();
    await expect.poll(() => page.title()).toContain(hostile);
    await showsText(page);
    await press(page, 'Restore an account from its words');
    await page.getByLabel('Recovery words').fill(hostile);
    await page.getByLabel('Or choose the account file').setInputFiles({
      name: `${hostile.replaceAll('/', '')}.json`,
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify({ format: hostile, domain: hostile })),
    });
    await page.getByText('was changed or damaged').waitFor();
    await noneRan(page);
    expectClean();
  });

  it('are texts in payslips, history, contacts, passkeys, wallets and the address of the page', async () => {
    const { page, expectClean } = await openServed(
      browser,
      folder,
      `?account=yes&${stranger}&x=${encodeURIComponent(hostile)}${fragment}`,
    );
    await press(page, 'Open with my passkey');
    await page.getByRole('heading', { level: 1, name: 'Payslip' }).waitFor();
    await noneRan(page);
    await page.getByRole('link', { name: 'Back' }).click();
    await showsText(page);
    await page.locator('.cards a').first().click();
    await page.getByRole('button', { name: 'Print' }).waitFor();
    await showsText(page);
    await page.getByRole('link', { name: 'History' }).click();
    await showsText(page, `${hostile}: ${hostile}`);

    await page.getByRole('link', { name: 'Pay', exact: true }).click();
    await page.getByLabel('Name, for you only').fill(hostile);
    await page
      .getByLabel('Their wallet key')
      .fill('0x02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5');
    await press(page, 'Save the contact');
    await page.getByLabel('To', { exact: true }).selectOption(hostile);
    await page.getByLabel('Amount in USDC').fill(hostile);
    await page.getByText('This is not an amount above zero').waitFor();
    await page.getByLabel('Amount in USDC').fill('10');
    await press(page, 'Pay now');
    await showsText(page, `${hostile} has 10 USDC.`);

    await page.getByRole('link', { name: 'Withdraw', exact: true }).click();
    await page.getByLabel('To another address').check();
    await page.getByLabel('Address', { exact: true }).fill(hostile);
    await page.getByText('This text has characters that no address has').waitFor();
    await page.evaluate(`addEventListener('eip6963:requestProvider', () => dispatchEvent(new CustomEvent('eip6963:announceProvider', {
      detail: { info: { uuid: '1', name: ${JSON.stringify(brief)}, icon: 'javascript:globalThis.ran=1' }, provider: {
        request: async () => ['${Wallet.createRandom().address}'],
      } },
    })))`);
    await press(page, 'Take the address from a wallet in this browser');
    await press(page, brief);
    await page.getByText('did not sign with the key of its address').waitFor();
    await showsText(page, brief);

    await page.getByRole('link', { name: 'Account' }).first().click();
    await page.getByRole('link', { name: 'Ways to open your account' }).click();
    await page.getByLabel('Name of the passkey').fill(hostile);
    await press(page, 'Add a passkey');
    await page.getByRole('button', { name: `Remove ${hostile}`, exact: true }).waitFor();
    await showsText(page);
    expectClean();
  });
});
