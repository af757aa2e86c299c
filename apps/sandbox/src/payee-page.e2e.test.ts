// The payee's page with real services: an invitation, an account with a passkey, a payment of the employer, a withdrawal with a proof of the
// page, and the account restored from its words in another browser, whose authenticator has no PRF.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { findFreePorts } from '@pool/testkit';
import { hasBrowser, openPage } from '@pool/testkit/browser';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addAuthenticator, press } from '../../payee/test/devices.ts';
import { fetchTokenBalance } from './demo/chain-facts.ts';
import { createHolderAccount } from './fixtures/holder-account.ts';
import { startHolderAgent } from './fixtures/holder-agent.ts';
import {
  keepAccount,
  type PayeePlace,
  reviewWithdrawal,
  see,
  showWords,
  startPayeePlace,
} from './fixtures/payee-place.ts';
import { type Agent, agentScript } from './processes/agent-process.ts';

describe.skipIf(!hasBrowser)("the payee's page (without Chromium it is skipped)", () => {
  let place: PayeePlace;
  beforeAll(async () => {
    place = await startPayeePlace();
  });
  afterAll(() => place.end());

  /** A browser of its own, with a passkey provider of its own. */
  async function visit(hasPrf: boolean, fragment = '', url = place.url) {
    const { page, errors } = await openPage(place.browser, 'about:blank');
    await addAuthenticator(await page.context().newCDPSession(page), { hasPrf });
    await page.goto(`${url}${fragment}`);
    return { page, errors };
  }

  /** `disburse-agent page`, with the release that the platform serves. */
  async function openOwnPage({ environment }: Agent) {
    const release = await (await fetch(new URL('release.json', place.url))).bytes();
    const digest = createHash('sha256').update(release);
    const [port] = await findFreePorts(1);
    const child = spawn(
      process.execPath,
      [
        ...['--conditions=@pool/source', agentScript, 'page', '--json'],
        ...['--digest', digest.digest('hex'), '--port', String(port)],
      ],
      { env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const ended = once(child, 'close');
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { url } = JSON.parse(line.toString()) as { url: string };
    return {
      url,
      async end() {
        child.kill('SIGINT');
        expect(await ended).toEqual([0, null]);
      },
    };
  }

  it('leads from an invitation to a withdrawal, and to the same account in another browser', async () => {
    const { stack } = place;
    const { page, errors } = await visit(true, await place.invite('reference-1'));
    const words = await showWords(page);
    expect(page.url()).toBe(place.url);
    expect(words).toHaveLength(24);
    const address = await keepAccount(page, words);
    await press(page, 'Register my account');
    await see(page, /^You can be paid$/);

    await place.pay(address, '3120500000');

    // The next visit opens the account with the passkey.
    await page.reload();
    await see(page, 'Your account is locked');
    await press(page, 'Open with my passkey');
    await see(page, '3120.5 USDC');
    await page.locator('.cards a').first().click();
    await see(page, 'Payslip');

    const savings = Wallet.createRandom().address;
    await reviewWithdrawal(page, '2000', savings);
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

    // A copy of the page on a machine of the payee, beside an agent.
    const own = await openOwnPage(ben);
    const copy = await visit(true, '', own.url);
    await press(copy.page, 'Restore an account from its words');
    await copy.page.getByLabel('Recovery words').fill(words.join(' '));
    await press(copy.page, 'Restore');
    await press(copy.page, 'Make a passkey');
    await see(copy.page, /^1100 USDC$/);
    await own.end();
    // The copy has no service worker: it cannot change.
    const failures = copy.errors.filter((error) => !error.includes('when fetching the script'));
    expect([...errors, ...other.errors, ...failures]).toEqual([]);
  });
});
