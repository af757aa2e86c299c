// The payee's page with real services in two tabs of one browser, which are open together and pay at the same moment.
import { hasBrowser, press } from '@pool/testkit/browser';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetchTokenBalance } from './demo/chain-facts.ts';
import {
  keepAccount,
  type Page,
  type PayeePlace,
  reviewWithdrawal,
  see,
  showWords,
  startPayeePlace,
  waitUntilAllIsFree,
} from './fixtures/payee-place.ts';

function sent(tab: Page) {
  return tab.getByRole('heading', { level: 1, name: 'Sent' });
}

describe.skipIf(!hasBrowser)('two tabs of an account (without Chromium it is skipped)', () => {
  let place: PayeePlace;
  let tabs: readonly [Page, Page];
  const savings = Wallet.createRandom().address;
  beforeAll(async () => {
    place = await startPayeePlace();
    const profile = await place.openProfile();
    const making = await profile.openTab(await place.invite('reference-1'));
    const address = await keepAccount(making, await showWords(making));
    await press(making, 'Register my account');
    await see(making, /^You can be paid$/);
    for (const amount of ['1200000000', '800000000']) await place.pay(address, amount);
    await making.close();
    tabs = await Promise.all([profile.openTab(), profile.openTab()]);
  });
  afterAll(() => place.end());

  const inBoth = (work: (tab: Page, index: number) => Promise<void>) =>
    Promise.all(tabs.map((tab, index) => work(tab, index)));

  /** From anywhere in the account. */
  async function review(tab: Page, amount: string): Promise<void> {
    await tab.getByRole('link', { name: 'Account' }).first().click();
    await waitUntilAllIsFree(tab);
    await reviewWithdrawal(tab, amount, savings);
  }

  /** Clicks at the same moment, when both tabs show the last look. */
  async function payInBoth(amounts: readonly [string, string]): Promise<void> {
    await inBoth((tab, index) => review(tab, amounts[index] ?? ''));
    await inBoth((tab) => press(tab, 'Withdraw now'));
  }

  /** What is on the chain: base units at `savings`, and spends. */
  const readChain = async () => [
    await fetchTokenBalance(place.stack.place, 'USDC', savings),
    await place.countSpends(),
  ];

  it('both show the balance when they are opened together', async () => {
    await inBoth((tab) => press(tab, 'Open with my passkey'));
    await inBoth((tab) => see(tab, /^2000 USDC$/));
  });

  it('pay a withdrawal once that both click at the same moment', async () => {
    await payInBoth(['150', '150']);
    // The tab that comes second says so before it continues the payment of the other one.
    const other = /This continues the payment|An equal payment was made/;
    await inBoth((tab) => sent(tab).or(tab.getByText(other)).waitFor());
    await Promise.any(tabs.map((tab) => sent(tab).waitFor()));
    expect(await readChain()).toEqual([150_000_000n, 1]);
  });

  it('pay two withdrawals that they click at the same moment, each from notes of its own', async () => {
    await payInBoth(['60', '70']);
    await inBoth((tab) => sent(tab).waitFor());
    expect(await readChain()).toEqual([280_000_000n, 3]);
  });

  it('pay an equal withdrawal again only after they said that it was made', async () => {
    const [, tab] = tabs;
    await review(tab, '150');
    await see(tab, 'An equal payment was made');
    expect(await place.countSpends()).toBe(3);
    await press(tab, 'Withdraw now');
    await sent(tab).waitFor();
    expect(await readChain()).toEqual([430_000_000n, 4]);
    await inBoth(async (each) => {
      await each.getByRole('link', { name: 'Account' }).first().click();
      await press(each, 'Read the chain again');
      await see(each, /^1570 USDC$/);
    });
  });
});
