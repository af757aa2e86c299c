// The payee's page with real services, whose tab is closed or killed at the worst moments: there is one account, one enrolment, and each
// withdrawal is paid once. And what somebody finds who copies the profile of the browser afterwards.
import { copyProfile, findInClear, hasBrowser, press, watchText } from '@pool/testkit/browser';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveWalletKey } from '../../../packages/wallet/src/browser/keys/account.ts';
import { parseRecoveryWords } from '../../../packages/wallet/src/browser/keys/recovery-words.ts';
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

const unlock = 'Open with my passkey';
const send = 'Withdraw now';
const proving = 'Making the proof on this device';
const paths = {
  accept: '**/api/invitations/accept',
  onboard: '**/api/employers/holder/onboard',
  spends: '**/agent-edge/spends',
  keys: /\/api\/employers\/(keys|edge-tokens)$/,
};

describe.skipIf(!hasBrowser)('a tab that is closed (without Chromium it is skipped)', () => {
  let place: PayeePlace;
  let profile: Awaited<ReturnType<PayeePlace['openProfile']>>;
  let words: readonly string[];
  let address: string;
  const savings = Wallet.createRandom().address;
  /** Base units that `savings` has. */
  let paid = 0n;
  /** Keys of the account at the platform. */
  const apiKeys: Record<string, string> = {};
  beforeAll(async () => {
    place = await startPayeePlace();
    profile = await place.openProfile();
    await profile.context.route(paths.keys, async (route) => {
      const response = await route.fetch();
      const { apiKey, token } = (await response.json()) as Record<string, string>;
      apiKeys[`API key ${Object.keys(apiKeys).length}`] = String(apiKey ?? token);
      await route.fulfill({ response });
    });
  });
  afterAll(() => place.end());

  const balanceOf = (owner: string) => fetchTokenBalance(place.stack.place, 'USDC', owner);

  /** The next request to this path never gets an answer. @returns waits until the request left the page */
  async function loseAnswer(path: string, reaches: 'the platform' | 'nobody') {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    await profile.context.route(
      path,
      (route) => {
        if (reaches === 'nobody') resolve();
        else route.fetch().then(() => resolve(), reject);
      },
      { times: 1 },
    );
    return () => promise;
  }

  async function openAccount(): Promise<Page> {
    const page = await profile.openTab();
    await press(page, unlock);
    return page;
  }

  /** The browser's process of the tab dies, as when there is no memory left: nothing of the page is asked. */
  async function kill(tab: Page): Promise<void> {
    const client = await profile.context.newCDPSession(tab);
    const died = tab.waitForEvent('crash');
    // The tab cannot answer.
    client.send('Page.crash').catch(() => undefined);
    await died;
  }

  /** What a person does who reads the page: an equal payment that was made is not made again. */
  async function finish(page: Page): Promise<void> {
    const wasMade = page.getByText('An equal payment was made');
    if ((await wasMade.count()) === 0) await press(page, send);
    await page.getByRole('heading', { level: 1, name: 'Sent' }).or(wasMade).first().waitFor();
  }

  it('at each step before the enrolment leaves one account, enrolled once', async () => {
    const link = await place.invite('reference-1');
    const opened = await profile.openTab(link);
    await see(opened, 'You are invited');
    await opened.close();
    const shown = await profile.openTab(link);
    const forgotten = await showWords(shown);
    await shown.close();
    const making = await profile.openTab(link);
    words = await showWords(making);
    expect(words).not.toEqual(forgotten);
    address = await keepAccount(making, words);
    // The platform takes the invitation, and then the enrolment, for an account that does not hear of it.
    let tab = making;
    for (const path of [paths.accept, paths.onboard]) {
      const isLost = await loseAnswer(path, 'the platform');
      await press(tab, 'Register my account');
      await isLost();
      await tab.close();
      tab = await openAccount();
      expect(await tab.locator('section code').first().textContent()).toBe(address);
    }
    await see(tab, /^You can be paid$/);
    await tab.close();
    expect(await place.listInvitations()).toMatchObject([{ state: 'eligible', address }]);
  });

  it('at each step of a withdrawal, or killed, pays it once', async () => {
    await place.pay(address, '3000000000');
    const steps = [
      {
        amount: '400',
        close: async (tab: Page) => {
          const isProving = await watchText(tab, proving);
          await press(tab, send);
          await isProving();
        },
      },
      {
        amount: '300',
        close: async (tab: Page) => {
          const isLost = await loseAnswer(paths.spends, 'nobody');
          await press(tab, send);
          await isLost();
        },
      },
      {
        amount: '200',
        close: async (tab: Page) => {
          const isLost = await loseAnswer(paths.spends, 'the platform');
          await press(tab, send);
          await isLost();
        },
      },
      {
        amount: '100',
        close: async (tab: Page) => {
          const isProving = await watchText(tab, proving);
          await press(tab, send);
          await isProving();
          await kill(tab);
        },
      },
      {
        amount: '50',
        close: async (tab: Page) => {
          const isLost = await loseAnswer(paths.spends, 'the platform');
          await press(tab, send);
          await isLost();
          await kill(tab);
        },
      },
    ];
    for (const [index, { amount, close }] of steps.entries()) {
      const tab = await openAccount();
      await waitUntilAllIsFree(tab);
      await reviewWithdrawal(tab, amount, savings);
      await close(tab);
      await tab.close();
      const next = await openAccount();
      await see(next, 'As of block');
      await reviewWithdrawal(next, amount, savings);
      await finish(next);
      await next.close();
      paid += BigInt(amount) * 1_000_000n;
      expect([await balanceOf(savings), await place.countSpends()]).toEqual([paid, index + 1]);
    }
  });

  it('leaves nothing secret in clear to whoever copies the profile', async () => {
    const tab = await openAccount();
    await see(tab, 'As of block');
    await tab.getByRole('link', { name: 'Pay', exact: true }).click();
    const { walletPub = '' } = place.stack.holders[0] ?? {};
    await tab.getByLabel('Name, for you only').fill('Benedikta');
    await tab.getByLabel('Their wallet key').fill(walletPub);
    await press(tab, 'Save the contact');
    await tab.getByLabel('To', { exact: true }).selectOption('benedikta');
    const seed = parseRecoveryWords(words.join(' '));
    const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex');
    const secrets = {
      ...apiKeys,
      ...{ seed: seed.reveal(), words: words.slice(0, 4).join(' ') },
      'wallet key': deriveWalletKey(seed).reveal(),
      'address of a withdrawal': bytes(savings),
      ...{ contact: 'benedikta', 'key of the contact': bytes(walletPub) },
      ...{ 'what was paid': '3000000000', 'what was withdrawn': '400000000' },
    };
    expect(Object.keys(apiKeys).length).toBeGreaterThan(1);
    for (const lock of [false, true]) {
      if (lock) await press(tab, 'Lock');
      const copy = await copyProfile(tab);
      expect(findInClear(copy, { own: bytes(address) })).toEqual(['own']);
      expect(findInClear(copy, secrets)).toEqual([]);
    }
  });
});
