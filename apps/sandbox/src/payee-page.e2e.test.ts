// The payee's page with real services: an invitation, an account with a passkey, a payment of the employer, a withdrawal with a proof of the
// page, and the account restored from its words in another browser, whose authenticator has no PRF.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@pool/core';
import { hasBrowser, openBrowser, openPage } from '@pool/testkit/browser';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSession } from './chain/people.ts';
import { fetchTokenBalance } from './demo/chain-facts.ts';
import { createHolderAccount } from './fixtures/holder-account.ts';
import { startHolderAgent } from './fixtures/holder-agent.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';
import { createPayeePage } from './stack/payee-page.ts';

type Page = Awaited<ReturnType<typeof openPage>>['page'];

describe.skipIf(!hasBrowser)("the payee's page (without Chromium it is skipped)", () => {
  let folder: string;
  let stack: TestStack;
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  let pageUrl: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pool-payee-'));
    const payeePage = createPayeePage(folder);
    await payeePage.placeKeys();
    stack = await startTestStack({ holderCount: 1, placePayeePage: payeePage.place });
    pageUrl = String(stack.payeePageUrl);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await stack.end();
    await rm(folder, { recursive: true, force: true });
  });

  /** A browser of its own, with a passkey provider of its own. */
  async function visit(hasPrf: boolean, fragment = '') {
    const { page, errors } = await openPage(browser, 'about:blank');
    const client = await page.context().newCDPSession(page);
    await client.send('WebAuthn.enable');
    await client.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', ctap2Version: 'ctap2_1', transport: 'internal' },
        ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
        ...{ automaticPresenceSimulation: true, hasPrf },
      },
    });
    await page.goto(`${pageUrl}${fragment}`);
    return { page, errors };
  }
  const press = (page: Page, name: string) =>
    page.getByRole('button', { name, exact: true }).click();
  const see = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();

  async function invite(): Promise<string> {
    const session = await openSession(
      new Secret(stack.employer.privateKey as `0x${string}`),
      stack,
    );
    const { links } = await session.createInvitationLinks(['reference-1']);
    return `#invite=${links[0]?.code.reveal()}`;
  }

  it('leads from an invitation to a withdrawal, and to the same account in another browser', async () => {
    const { page, errors } = await visit(true, await invite());
    await see(page, 'You are invited');
    expect(page.url()).toBe(pageUrl);
    await press(page, 'Make my account');
    await see(page, 'Write down these 24 words');
    const words = await page.locator('.words li').allTextContents();
    expect(words).toHaveLength(24);
    await press(page, 'I have written them down');
    await see(page, 'Try your words');
    for (const label of await page.locator('label').allTextContents()) {
      const word = words[Number(label.replace('Word ', '')) - 1] ?? '';
      await page.getByLabel(label, { exact: true }).fill(word);
    }
    await press(page, 'Continue');
    await press(page, 'Make a passkey');
    await see(page, 'Not registered yet');
    const [address = ''] = await page.locator('section code').allTextContents();
    await press(page, 'Register my account');
    await see(page, /^You can be paid$/);

    const paying = await stack.client.disburse('june', {
      token: 'USDC',
      recipients: [
        { recipientAddress: address, amount: '3120500000' },
        { recipientAddress: stack.holders[0]?.address ?? '', amount: '5' },
      ],
    });
    expect(paying.status).toBe(202);
    expect(await stack.client.waitForJob('june')).toMatchObject({ state: 'done' });

    // The next visit opens the account with the passkey.
    await page.reload();
    await see(page, 'Your account is locked');
    await press(page, 'Open with my passkey');
    await see(page, '3120.5 USDC');
    await page.locator('.cards a').first().click();
    await see(page, 'Payslip');

    await page.getByRole('link', { name: 'Withdraw' }).click();
    const savings = Wallet.createRandom().address;
    await page.getByLabel('To another address').check();
    await page.getByLabel('Address', { exact: true }).fill(savings);
    await page.getByLabel('Amount in USDC').fill('2000');
    await press(page, 'Review');
    await see(page, '1120.5 USDC');
    await press(page, 'Withdraw now');
    await see(page, 'Waiting for the chain');
    await page.getByRole('heading', { level: 1, name: 'Sent' }).waitFor();
    expect(await fetchTokenBalance(stack.place, 'USDC', savings)).toBe(2_000_000_000n);
    await page.getByRole('link', { name: 'Account' }).first().click();
    await see(page, /^1120\.5 USDC$/);

    await page.getByRole('link', { name: 'Pay', exact: true }).click();
    await page.getByLabel('Name, for you only').fill('Ben');
    await page.getByLabel('Their wallet key').fill(stack.holders[0]?.walletPub ?? '');
    await press(page, 'Save the contact');
    await page.getByLabel('To', { exact: true }).selectOption('ben');
    await page.getByLabel('Amount in USDC').fill('20.5');
    await press(page, 'Pay now');
    await see(page, 'ben has 20.5 USDC.');
    const ben = await startHolderAgent(stack, stack.holders[0]!, 'ben');
    const colleague = createHolderAccount(ben.url, ben.keys);
    expect((await colleague.balance()).body).toMatchObject({ total: '20500005' });
    await page.getByRole('link', { name: 'Account' }).first().click();
    await see(page, /^1100 USDC$/);

    // The words are enough, and leave nothing behind where no passkey can.
    const other = await visit(false);
    await press(other.page, 'Restore an account from its words');
    await other.page.getByLabel('Recovery words').fill(words.join(' '));
    await press(other.page, 'Restore');
    await press(other.page, 'Make a passkey');
    await see(other.page, 'This device cannot keep your account');
    await other.page.getByLabel('I have the words on two papers').check();
    await press(other.page, 'Go on with the words alone');
    await see(other.page, /^1100 USDC$/);
    await other.page.getByRole('link', { name: 'History' }).click();
    await see(other.page, `to ${savings}`);
    await press(other.page, 'Lock');
    await see(other.page, 'An employer who pays you with Pool sends you a link');
    expect([...errors, ...other.errors]).toEqual([]);
  });
});
