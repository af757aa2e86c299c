// The payee's page with real services: an invitation, an account with a passkey, a payment of the employer, a withdrawal with a proof of the
// page, and the account restored from its words in another browser, whose authenticator has no PRF.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bytesToHex, Secret } from '@pool/core';
import { findFreePorts, readData } from '@pool/testkit';
import { addAuthenticator, hasBrowser, openPage, press, watchText } from '@pool/testkit/browser';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveWalletKey } from '../../../packages/wallet/src/browser/keys/account.ts';
import { parseRecoveryWords } from '../../../packages/wallet/src/browser/keys/recovery-words.ts';
import { openSession } from './chain/people.ts';
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
import { createEdgeToken } from './stack/edge-token.ts';

const platformScript = fileURLToPath(new URL('../../platform/src/main.ts', import.meta.url));

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
    const { url } = readData(line.toString()) as { url: string };
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
    await see(page, `(${stack.employer.address})`);

    const savings = Wallet.createRandom().address;
    await reviewWithdrawal(page, '2000', savings);
    // Who goes back finds what was typed.
    await press(page, 'Back');
    const typed = ['Address', 'Amount in USDC'].map((label) =>
      page.getByLabel(label, { exact: true }).inputValue(),
    );
    expect(await Promise.all(typed)).toEqual([savings, '2000 USDC']);
    await press(page, 'Review');
    await see(page, '1120.5 USDC');
    const isWaiting = await watchText(page, 'Waiting for the chain');
    await press(page, 'Withdraw now');
    await isWaiting();
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

  it('accepts the invitation of another employer, and makes room for the keys of another browser', async () => {
    const { stack } = place;
    const { page } = await visit(true, await place.invite('reference-2'));
    const words = await showWords(page);
    const address = await keepAccount(page, words);
    await press(page, 'Register my account');
    await see(page, 'Balance');

    const second = Wallet.createRandom();
    const employer = await openSession(new Secret(second.privateKey as `0x${string}`), stack);
    await createEdgeToken({
      script: platformScript,
      dataDirectory: join(stack.directory, 'platform-data'),
      employerAddress: second.address,
    });
    const { links } = await employer.createInvitationLinks(['reference-3']);
    // In the tab of the page.
    await page.goto(`${place.url}#invite=${links[0]?.code.reveal()}`);
    await see(page, 'Then you see the invitation that you opened.');
    await press(page, 'Open with my passkey');
    await see(page, second.address);
    await press(page, 'Accept with this account');
    await page.getByRole('heading', { name: 'Who invited you' }).waitFor();
    expect(page.url()).toBe(place.url);
    for (const inviter of [stack.employer.address, second.address]) await see(page, inviter);
    expect((await employer.listInvitationLinks()).links).toMatchObject([
      { reference: 'reference-3', state: 'eligible', address },
    ]);
    // Each other link of the first employer is for another person.
    await page.goto(`${place.url}${await place.invite('reference-4')}`);
    await press(page, 'Open with my passkey');
    await press(page, 'Accept with this account');
    await see(page, 'this account has accepted another one of the same employer');
    await press(page, 'Go to my account');
    await see(page, 'Balance');

    const walletKey = bytesToHex(deriveWalletKey(parseRecoveryWords(words.join(' '))).reveal());
    const owner = await openSession(new Secret(walletKey), stack);
    const listNames = async () =>
      (await owner.listKeys()).filter((key) => key.revokedAt === undefined).map(({ name }) => name);
    while ((await listNames()).length < 50) await owner.mintKey('holder.read', 'payroll');
    const other = await visit(false);
    await press(other.page, 'Restore an account from its words');
    await other.page.getByLabel('Recovery words').fill(words.join(' '));
    await press(other.page, 'Restore');
    await press(other.page, 'Make a passkey');
    await other.page.getByLabel('I have the words on two papers').check();
    await press(other.page, 'Go on with the words alone');
    await see(other.page, 'Balance');
    const [revoked] = await owner.listKeys();
    expect(revoked?.revokedAt).toBeDefined();
    // The key that it revoked was the first browser's, which makes another one.
    await press(page, 'Read the chain again');
    await expect.poll(async () => (await owner.listKeys()).length).toBe(52);
    await page.getByRole('button', { name: 'Read the chain again', disabled: false }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect((await listNames()).filter((name) => name === 'payroll')).toHaveLength(49);
  });
});
