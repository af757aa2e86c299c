// The views of money, and the page itself, in a real browser, as the platform serves them: by keyboard, under the policy, without findings of
// axe-core. The wallet behind them is a fake (test/page/fake-wallet.ts).
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { hasBrowser, openBrowser, press } from '@pool/testkit/browser';
import { type TypedDataDomain, type TypedDataField, Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildFakePage, look, openServed } from './served-page.ts';

const maxPageBytes = 250_000;

type SignedDocument = {
  readonly domain: TypedDataDomain;
  readonly types: Record<string, TypedDataField[]>;
  readonly message: Record<string, string>;
};

describe.skipIf(!hasBrowser)("the payee's page (without Chromium it is skipped)", () => {
  let folder: string;
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  beforeAll(async () => {
    folder = await buildFakePage();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** @param query - what the fake wallet is, for example `?account=yes` */
  const open = (query: string) => openServed(browser, folder, query);

  async function openAccount() {
    const opened = await open('?account=yes');
    await press(opened.page, 'Open with my passkey');
    await opened.page.getByText('You can be paid').waitFor();
    return opened;
  }

  it('shows balance and payslips', async () => {
    const { page, expectClean } = await openAccount();
    await look(page, 'Account', 'home');
    await page.getByText('6120.5 USDC').first().waitFor();
    await page.getByText('=1+1 <b>Salary</b> November').waitFor();
    await page.locator('.cards a').first().click();
    await look(page, 'Payslip', 'payslip');
    await page.getByText('Acme Ltd').waitFor();
    await page.getByLabel('What for').fill('a loan');
    const downloading = page.waitForEvent('download');
    await press(page, 'Download the proof');
    const proof = await downloading;
    expect(proof.suggestedFilename()).toMatch(/^payslip-\d{4}-\d\d-\d\d\.json$/);
    expect(JSON.parse(await readFile(await proof.path(), 'utf8'))).toEqual({
      ...{ token: 'USDC', purpose: 'a loan', commitment: `0x${'2'.repeat(64)}` },
    });
    expectClean();
  });

  it('warns of a withdrawal that a payslip gives away, and withdraws another amount', async () => {
    const { page, expectClean } = await openAccount();
    await page.getByRole('link', { name: 'Withdraw', exact: true }).click();
    await look(page, 'Withdraw', 'withdraw');
    await press(page, 'Review');
    await page.getByRole('alert').filter({ hasText: 'Enter an amount' }).waitFor();
    await page.getByLabel('Amount in USDC').fill('3,120.5');
    await press(page, '3120.5 USDC');
    await page.getByText('This can be linked to your payslip').waitFor();
    await page.getByText('You were paid within the last day').waitFor();
    await look(page, 'Withdraw', 'withdraw-linked');
    await press(page, 'Withdraw 2000 USDC instead');
    await page.getByText('The amount is that of your payslip').waitFor({ state: 'detached' });
    await page.getByLabel('To another address').check();
    await page
      .getByLabel('Address', { exact: true })
      .fill('0x7e5f000000000000000000000000000000005bdf');
    await page.getByText('It begins and ends like your own wallet').waitFor();
    await look(page, 'Withdraw', 'withdraw-twin');
    await page.getByLabel('To your own wallet').check();
    await press(page, 'Review');
    await look(page, 'Check before you send', 'withdraw-review');
    await page.getByText('2000 USDC went to 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf').waitFor();
    await press(page, 'Withdraw now');
    await look(page, 'Sent', 'withdraw-sent');
    expectClean();
  });

  it('reads the balance again by itself while the payment of another tab holds a part of it', async () => {
    const { page, expectClean } = await open('?account=yes');
    await page.getByRole('heading', { name: 'Your account is locked' }).waitFor();
    await page.clock.install();
    await press(page, 'Open with my passkey');
    await page.getByText('You can be paid').waitFor();
    await page.getByRole('link', { name: 'Withdraw', exact: true }).click();
    const held = page.getByText('A payment that is underway holds 120.5 USDC more');
    await held.waitFor();
    await page.evaluate("dispatchEvent(new Event('fake-payment-ended'))");
    await page.clock.fastForward('00:10');
    await held.waitFor({ state: 'detached' });
    await page.getByText('You can spend 6120.5 USDC now').waitFor();
    expectClean();
  });

  it('shows the account while the platform is silent, and withdraws without it', async () => {
    const { page, expectClean } = await open('?account=yes&silent=yes');
    await press(page, 'Open with my passkey');
    await page.getByText('sent to you after 2 Nov 2026').waitFor();
    await page.getByText('6120.5 USDC').first().waitFor();
    await look(page, 'Account', 'home-silent');
    await page.getByRole('link', { name: 'Withdraw', exact: true }).click();
    await look(page, 'Withdraw without the platform', 'exit');
    await press(page, 'Go on without the platform');
    await page.getByLabel('Amount in USDC').fill('2000');
    await press(page, 'Review');
    await page.getByText('About 0.0013 coin of the chain').waitFor();
    await page.getByText('Send 0.0038 coin of the chain to it').waitFor();
    await look(page, 'Check before you send', 'exit-unfunded');
    await press(page, 'Check again');
    await page.getByText('Send 0.0038 coin').waitFor({ state: 'detached' });
    await press(page, 'Withdraw now');
    await page.getByText('has 0.01 coin of the chain').waitFor();
    await look(page, 'Sent', 'exit-sent');
    await press(page, 'Send about 0.0099 coin of the chain on');
    await page.getByText('It arrives with the next blocks').waitFor();
    await page.getByRole('link', { name: 'Pay', exact: true }).click();
    await page.getByText('Nobody can be paid inside the pool without the platform').waitFor();
    expectClean();
  });

  it('takes an address from a wallet of the browser, if the wallet signs with its key', async () => {
    const { page, expectClean } = await openAccount();
    await page.getByRole('link', { name: 'Withdraw', exact: true }).click();
    await page.getByLabel('To another address').check();
    const find = () => press(page, 'Take the address from a wallet in this browser');
    await find();
    await page.getByText('No extension of this browser offers a wallet').waitFor();
    const wallet = Wallet.createRandom();
    await page.exposeFunction('signTyped', async (text: string) => {
      const { domain, types, message } = JSON.parse(text) as SignedDocument;
      const { WithdrawalAddress = [] } = types;
      return await wallet.signTypedData(domain, { WithdrawalAddress }, message);
    });
    await page.evaluate(`for (const [uuid, name, address] of [
      ['1', '<b>Fox</b>', '${wallet.address}'],
      ['2', 'Other key', '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf'],
    ]) addEventListener('eip6963:requestProvider', () => dispatchEvent(new CustomEvent('eip6963:announceProvider', {
      detail: { info: { uuid, name }, provider: {
        request: async ({ method, params }) => method === 'eth_requestAccounts' ? [address] : signTyped(params[1]),
      } },
    })));`);
    await find();
    await press(page, 'Other key');
    await page.getByText('did not sign with the key of its address').waitFor();
    await look(page, 'Withdraw', 'withdraw-wallets');
    await press(page, '<b>Fox</b>');
    await expect
      .poll(() => page.getByLabel('Address', { exact: true }).inputValue())
      .toBe(wallet.address);
    expect(await page.getByText('You have never withdrawn to this address').count()).toBe(0);
    expectClean();
  });

  it('pays a contact, and exports the history', async () => {
    const { page, expectClean } = await openAccount();
    await page.getByRole('link', { name: 'Pay', exact: true }).click();
    await page.getByLabel('Name, for you only').fill('nobody');
    const key = '0x02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5';
    await page.getByLabel('Their wallet key').fill(key);
    await press(page, 'Save the contact');
    await page.getByText('This wallet has no account that can be paid').waitFor();
    await page.getByLabel('Name, for you only').fill('ben');
    await press(page, 'Save the contact');
    await page.getByLabel('To', { exact: true }).selectOption('ben');
    await page.getByLabel('Amount in USDC').fill('10');
    await look(page, 'Pay inside the pool', 'transfer');
    await press(page, 'Pay now');
    await page.getByText('ben has 10 USDC.').waitFor();
    await page.getByRole('link', { name: 'Account' }).first().click();
    await page.getByRole('link', { name: 'Pay', exact: true }).click();
    await page.getByLabel('To', { exact: true }).selectOption('ben');
    await page.getByLabel('Amount in USDC').fill('10');
    await press(page, 'Pay now');
    await page.getByRole('alert').filter({ hasText: 'An equal payment was made on' }).waitFor();
    await look(page, 'Pay inside the pool', 'transfer-again');
    await press(page, 'Pay now');
    await page.getByText('ben has 10 USDC.').waitFor();
    await page.getByRole('link', { name: 'History' }).click();
    await look(page, 'History', 'history');
    const downloading = page.waitForEvent('download');
    await press(page, 'Download as CSV');
    const file = await (await downloading).path();
    const lines = (await readFile(file, 'utf8')).split('\r\n');
    expect(lines).toHaveLength(4);
    expect(lines[2]).toContain("'=1+1");
    expectClean();
  });

  it('is used by keyboard: each view begins at its heading', async () => {
    const { page, expectClean } = await open('?account=yes');
    const focused = () => page.evaluate('document.activeElement.textContent');
    await page.getByRole('heading', { name: 'Your account is locked' }).waitFor();
    expect(await focused()).toBe('Your account is locked');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Open with my passkey');
    await page.keyboard.press('Enter');
    await page.getByText('You can be paid').waitFor();
    await page.getByRole('link', { name: 'History' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'History' }).waitFor();
    expect(await focused()).toBe('History');
    expectClean();
  });

  it('lets no text become a script', async () => {
    const { page } = await open('?account=yes');
    await page.getByRole('heading', { name: 'Your account is locked' }).waitFor();
    // In a timer: what the debugger itself evaluates may call eval.
    const tried = await page.evaluate(`new Promise((resolve) => setTimeout(() => resolve([
      () => { document.body.innerHTML = '<b>x</b>'; },
      () => new Worker('https://other.example/x.js'),
      () => new Worker('/x.js?run=evil'),
      () => eval('1'),
    ].map((attempt) => { try { attempt(); return 'done'; } catch (error) { return error.name; } }))))`);
    expect(tried).toEqual(['TypeError', 'TypeError', 'TypeError', 'EvalError']);
  });

  it('shows itself in no frame, and is isolated', async () => {
    const { page, url } = await open('?account=yes');
    expect(await page.evaluate('crossOriginIsolated')).toBe(true);
    const outer = await page.context().newPage();
    await outer.setContent(`<iframe src="${url}/payee/"></iframe>`);
    await expect.poll(() => outer.frames()[1]?.url()).toMatch(/^chrome-error:/);
  });

  it(`is at most ${maxPageBytes / 1_000} kB compressed`, async () => {
    const files = await readdir(folder, { recursive: true, withFileTypes: true });
    const sizes = files
      .filter((file) => file.isFile())
      .map(async (file) => gzipSync(await readFile(join(file.parentPath, file.name))).length);
    const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(total).toBeLessThanOrEqual(maxPageBytes);
  });
});
