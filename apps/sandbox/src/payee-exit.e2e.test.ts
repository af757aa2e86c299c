// The payee's page when the platform is gone, with real services: an account that was paid opens from the files of the service worker, shows
// its balance, and withdraws with transactions of its own, each paid once, whatever answers in place of the platform.
import { join } from 'node:path';
import {
  addAuthenticator,
  hasBrowser,
  openPage,
  openProfile,
  press,
  servePage,
  shareDevices,
} from '@pool/testkit/browser';
import { JsonRpcProvider, Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { fetchTokenBalance } from './demo/chain-facts.ts';
import { type Answer, answerInstead, deadAnswers } from './fixtures/dead-platform.ts';
import {
  keepAccount,
  type PayeePlace,
  restoreAccount,
  see,
  showWords,
  startPayeePlace,
} from './fixtures/payee-place.ts';

describe.skipIf(!hasBrowser)('the payee’s page without the platform', () => {
  let place: PayeePlace;
  beforeAll(async () => {
    place = await startPayeePlace();
  });
  afterAll(() => place.end());

  it('shows the balance, and withdraws all of it, each payment once', async () => {
    const { stack, url: pageUrl } = place;
    const { page, errors } = await openPage(place.browser, 'about:blank');
    await addAuthenticator(await page.context().newCDPSession(page), { hasPrf: true });
    await page.goto(`${pageUrl}${await place.invite('reference-1')}`);
    const words = await showWords(page);
    const address = await keepAccount(page, words);
    await press(page, 'Register my account');
    await see(page, /^You can be paid$/);
    await place.pay(address, '700000000');
    await place.pay(address, '50000000');
    await page.reload();
    await press(page, 'Open with my passkey');
    await see(page, /^750 USDC$/);
    await page.getByRole('link', { name: 'Withdraw without the platform' }).click();
    await press(page, 'Keep the files in this browser');
    await see(page, 'The files are in this browser.');
    const download = page.waitForEvent('download');
    await press(page, 'Download the notes file');
    const notesFile = await (await download).path();

    await stack.platform.process.stop();
    await page.goto(pageUrl);
    async function expectSilence(): Promise<void> {
      await page.reload();
      await press(page, 'Open with my passkey');
      await see(page, 'The platform does not answer');
      await see(page, /^750 USDC$/);
    }
    await expectSilence();
    const instead = await answerInstead(stack.platformUrl);
    onTestFinished(instead.close);
    for (const answer of Object.values(deadAnswers)) {
      instead.give(answer);
      await expectSilence();
      expect(instead.asked()).toBeGreaterThan(0);
    }
    // A platform that refuses is not gone.
    const body = '{"code":"rate_limited","message":"later"}';
    instead.give({ status: 503, type: 'application/json', body });
    await page.reload();
    await press(page, 'Open with my passkey');
    await page.getByRole('alert').filter({ hasText: 'Too many requests' }).waitFor();
    expect(await page.getByText('The platform does not answer').count()).toBe(0);
    instead.give(deadAnswers['another page'] as Answer);
    await expectSilence();

    const savings = Wallet.createRandom().address;
    async function review(amount: string): Promise<void> {
      await page.getByRole('link', { name: 'Withdraw', exact: true }).click();
      await press(page, 'Go on without the platform');
      await page.getByLabel('To another address').check();
      await page.getByLabel('Address', { exact: true }).fill(savings);
      await page.getByLabel('Amount in USDC').fill(amount);
      await press(page, 'Review');
      await see(page, 'The fee is paid by');
    }
    await review('300');
    await see(page, 'too little');
    const payer = (await page.locator('dd code').last().textContent()) ?? '';
    expect(payer).not.toBe(address);
    const provider = new JsonRpcProvider(stack.rpcUrl);
    await provider.send('anvil_setBalance', [payer, '0xde0b6b3a7640000']);
    await press(page, 'Check again');
    await page.getByText('too little').waitFor({ state: 'detached' });
    await press(page, 'Withdraw now');
    // The tab is closed once the transaction has left. Nobody does anything more for it.
    await expect.poll(() => provider.getTransactionCount(payer, 'pending')).toBe(1);
    await page.goto(pageUrl);
    await press(page, 'Open with my passkey');
    await expect
      .poll(async () => {
        await press(page, 'Read the chain again');
        return await page.locator('.balance').textContent();
      })
      .toBe('450 USDC');
    // Who repeats it all the same sees that it was made, or that it continues until the wallet knows of its block.
    const made = page.getByRole('alert').filter({ hasText: 'An equal payment was made' });
    await review('300');
    await made.or(page.getByText('This continues the payment')).first().waitFor();
    while ((await made.count()) === 0) {
      await press(page, 'Back');
      await press(page, 'Review');
      await made.or(page.getByText('This continues the payment')).first().waitFor();
    }
    expect(await fetchTokenBalance(stack.place, 'USDC', savings)).toBe(300_000_000n);

    // Another browser, whose page a server of files serves. The change comes from the chain, and the rest from the file.
    const copy = await servePage({
      ...{ folder: place.folder, isolated: true },
      policy: `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self' ${stack.rpcUrl}`,
    });
    onTestFinished(copy.close);
    const context = await openProfile(place.browser, { serviceWorkers: 'block' });
    await shareDevices(context);
    const other = await context.newPage();
    await other.goto(copy.origin);
    await restoreAccount(other, words);
    await see(other, 'It has never answered in this browser');
    await see(other, /^400 USDC$/);
    await other.getByRole('link', { name: 'Withdraw without the platform' }).click();
    await other.getByLabel('Add the notes file').setInputFiles(join(place.folder, 'chains.json'));
    await see(other, 'This is not a notes file');
    await other.getByLabel('Add the notes file').setInputFiles(notesFile);
    await see(other, /^Notes added: 2. Here before: 0. Not usable: 0/);
    await press(other, 'Go on without the platform');
    await other.getByLabel('Amount in USDC').fill('450');
    await press(other, 'Review');
    await press(other, 'Withdraw now');
    await other.getByRole('heading', { level: 1, name: 'Sent' }).waitFor();
    expect(await fetchTokenBalance(stack.place, 'USDC', address)).toBe(450_000_000n);
    expect(await fetchTokenBalance(stack.place, 'USDC', savings)).toBe(300_000_000n);
    expect(await provider.getTransactionCount(payer)).toBe(2);
    // What is left of the coin goes to the address that got the withdrawal.
    expect(await provider.getBalance(address)).toBe(0n);
    await other.getByRole('button', { name: /^Send about 0\.98.* on$/ }).click();
    await see(other, 'It arrives with the next blocks');
    await expect.poll(() => provider.getBalance(address)).toBeGreaterThan(98n * 10n ** 16n);
    expect(await provider.getBalance(payer)).toBeLessThan(2n * 10n ** 16n);
    expect(copy.violations).toEqual([]);
    await page.getByRole('link', { name: 'Account' }).first().click();
    await press(page, 'Read the chain again');
    await see(page, /^0 USDC$/);
    provider.destroy();
    expect(errors).toEqual([]);
  });
});
