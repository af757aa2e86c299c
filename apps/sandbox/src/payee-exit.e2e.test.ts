// The payee's page when the platform is gone, with real services: an account that was paid opens from the files of the service worker, shows
// its balance, and withdraws with transactions of its own, each paid once, whatever answers in place of the platform.
import { addAuthenticator, hasBrowser, openPage, press } from '@pool/testkit/browser';
import { JsonRpcProvider, Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { fetchTokenBalance } from './demo/chain-facts.ts';
import { type Answer, answerInstead, deadAnswers } from './fixtures/dead-platform.ts';
import {
  keepAccount,
  type PayeePlace,
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
    const address = await keepAccount(page, await showWords(page));
    await press(page, 'Register my account');
    await see(page, /^You can be paid$/);
    await place.pay(address, '700000000');
    await page.reload();
    await press(page, 'Open with my passkey');
    await see(page, /^700 USDC$/);
    await page.getByRole('link', { name: 'Withdraw without the platform' }).click();
    await press(page, 'Keep the files in this browser');
    await see(page, 'The files are in this browser.');

    await stack.platform.process.stop();
    await page.goto(pageUrl);
    async function expectSilence(): Promise<void> {
      await page.reload();
      await press(page, 'Open with my passkey');
      await see(page, 'The platform does not answer');
      await see(page, /^700 USDC$/);
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
    await expect
      .poll(() => provider.getTransactionCount(payer, 'pending'), { timeout: 120_000 })
      .toBe(1);
    await page.goto(pageUrl);
    await press(page, 'Open with my passkey');
    await expect
      .poll(
        async () => {
          await press(page, 'Read the chain again');
          return await page.locator('.balance').textContent();
        },
        { timeout: 60_000 },
      )
      .toBe('400 USDC');
    // Who repeats it all the same sees that it was made.
    await review('300');
    await page.getByRole('alert').filter({ hasText: 'An equal payment was made' }).waitFor();
    expect(await fetchTokenBalance(stack.place, 'USDC', savings)).toBe(300_000_000n);

    // The rest: the change comes from the chain.
    await page.getByRole('link', { name: 'Account' }).first().click();
    await page.getByRole('link', { name: 'Withdraw', exact: true }).click();
    await page.getByLabel('Amount in USDC').fill('400');
    await press(page, 'Review');
    await press(page, 'Withdraw now');
    await page.getByRole('heading', { level: 1, name: 'Sent' }).waitFor();
    expect(await fetchTokenBalance(stack.place, 'USDC', address)).toBe(400_000_000n);
    expect(await fetchTokenBalance(stack.place, 'USDC', savings)).toBe(300_000_000n);
    expect(await provider.getTransactionCount(payer)).toBe(2);
    await page.getByRole('link', { name: 'Account' }).first().click();
    await see(page, /^0 USDC$/);
    provider.destroy();
    expect(errors).toEqual([]);
  });
});
