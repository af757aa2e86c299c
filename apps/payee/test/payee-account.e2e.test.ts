// The views of invitations and of ways to open an account, in a real browser, as the platform serves them: under the policy, without
// findings of axe-core. The wallet behind them is a fake (test/page/fake-wallet.ts).
import { rm } from 'node:fs/promises';
import { hasBrowser, openBrowser, press } from '@pool/testkit/browser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildFakePage, look, openServed } from './served-page.ts';

const words =
  'abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve acid acoustic acquire across act action actor actress actual'.split(
    ' ',
  );

describe.skipIf(!hasBrowser)('accounts of the page (without Chromium it is skipped)', () => {
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

  it('goes from an invitation to an account that can be paid', async () => {
    const { page, expectClean } = await open('?invitation=x');
    await look(page, 'Acme \ufffdLtd invites you', 'invitation');
    await press(page, 'Make my account');
    await look(page, 'Write down these 24 words', 'words');
    expect(await page.locator('.words li').allTextContents()).toEqual(words);
    await press(page, 'I have written them down');
    await look(page, 'Try your words', 'trial');
    const asked = await page.locator('label').allTextContents();
    expect(asked).toHaveLength(3);
    for (const [index, label] of asked.entries()) {
      const word = words[Number(label.replace('Word ', '')) - 1] ?? '';
      await page.getByLabel(label, { exact: true }).fill(index === 1 ? 'zoo' : word);
    }
    await press(page, 'Continue');
    await page
      .getByRole('alert')
      .filter({ hasText: `${asked[1]} is not right` })
      .waitFor();
    const second = asked[1] ?? '';
    const word = words[Number(second.replace('Word ', '')) - 1] ?? '';
    await page.getByLabel(second, { exact: true }).fill(word);
    await press(page, 'Continue');
    await look(page, 'Make a passkey', 'passkey');
    await press(page, 'Make a passkey');
    await look(page, 'Account', 'not-enrolled');
    await press(page, 'Register my account');
    await page.getByText('Waiting for review').waitFor();
    await look(page, 'Account', 'waiting');
    await press(page, 'Check again');
    await page.getByText('You can be paid').waitFor();
    expectClean();
  });

  it('says what to do where a passkey cannot keep an account', async () => {
    const { page, expectClean } = await open('?invitation=x&prf=no');
    await press(page, 'Restore an account from its words');
    await look(page, 'Restore your account', 'restore');
    await page.getByLabel('Recovery words').fill(words.join('\n'));
    await press(page, 'Restore');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Recovery words').fill(words.join(' '));
    await press(page, 'Restore');
    await press(page, 'Make a passkey');
    await look(page, 'This device cannot keep your account', 'no-prf');
    const alone = page.getByRole('button', { name: 'Go on with the words alone' });
    expect(await alone.isDisabled()).toBe(true);
    await page.getByLabel('I have the words on two papers').check();
    await alone.click();
    // Who restores an account has not accepted the invitation yet.
    await press(page, 'Accept with this account');
    await page.getByText('You can be paid').waitFor();
    await press(page, 'Lock');
    await page.getByRole('heading', { level: 1, name: 'Your private account' }).waitFor();
    expectClean();
  });

  /** Opens a link in a browser that has an account, and the account. */
  async function openInvited(code: string) {
    const opened = await open(`?account=yes&invitation=${code}`);
    await opened.page.getByText('Then you see the invitation that you opened.').waitFor();
    await press(opened.page, 'Open with my passkey');
    return opened;
  }

  it('shows an invitation to somebody who has an account, who accepts it with the account', async () => {
    const { page, expectClean } = await openInvited('x');
    await look(page, 'Acme \ufffdLtd invites you', 'invitation-again');
    await page.getByText('0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf').last().waitFor();
    await page.getByText('they see that they pay the same person').waitFor();
    expect(await page.getByRole('button', { name: 'Make my account' }).count()).toBe(0);
    await press(page, 'Accept with this account');
    await page.getByText('You can be paid').waitFor();
    await page.getByRole('heading', { name: 'Who invited you' }).waitFor();
    await page.getByText('Accepted on 2 November 2026').waitFor();
    await look(page, 'Account', 'home-invited');
    // It was handled.
    await press(page, 'Lock');
    await press(page, 'Open with my passkey');
    await look(page, 'Account', 'home-again');
    expectClean();
  });

  it('opens the account without an invitation that cannot be accepted, and says why', async () => {
    for (const [code, text] of [
      ['used', 'If you accepted it with this account, there is nothing more to do'],
      ['expired', 'This invitation has expired. Ask the person who sent it for a new one.'],
      ['revoked', 'This invitation was withdrawn'],
      ['unknown', 'This link is not an invitation of this platform'],
      ['other-pool', 'This invitation is for another pool than that of your account'],
      ['lost', 'The platform does not answer'],
    ] as const) {
      const { page, expectClean } = await openInvited(code);
      await page.getByText(text).waitFor();
      expect(await page.getByRole('button', { name: 'Accept with this account' }).count()).toBe(0);
      await press(page, 'Go to my account');
      await page.getByText('You can be paid').waitFor();
      expect(await page.getByRole('heading', { name: 'Who invited you' }).count()).toBe(0);
      expectClean();
    }
  });

  it('says that another account took the invitation meanwhile', async () => {
    const { page, expectClean } = await openInvited('taken');
    await press(page, 'Accept with this account');
    await page
      .getByRole('alert')
      .filter({ hasText: 'Another account has used this invitation, or this account has' })
      .waitFor();
    await look(page, 'Acme \ufffdLtd invites you', 'invitation-taken');
    await press(page, 'Go to my account');
    await page.getByText('You can be paid').waitFor();
    expectClean();
  });

  it('adds and removes passkeys, and carries the account file to another browser', async () => {
    const { page, expectClean } = await open('?account=yes');
    await look(page, 'Your account is locked', 'locked');
    await press(page, 'Open with my passkey');
    await page.getByRole('link', { name: 'Ways to open your account' }).click();
    await page.getByText('Made on 1 November 2026').waitFor();
    expect(await page.getByRole('button', { name: 'Remove' }).count()).toBe(0);
    const label = page.getByLabel('Name of the passkey');
    await label.fill('same');
    await press(page, 'Add a passkey');
    await page.getByText('This device has a passkey of your account').waitFor();
    await label.fill('<b>security key</b>');
    await press(page, 'Add a passkey');
    await page.getByText('The passkey opens your account.').waitFor();
    await look(page, 'Ways to open your account', 'passkeys');
    await press(page, 'Remove passkey');
    await expect.poll(() => page.getByText('Made on 1 November 2026').count()).toBe(1);
    const downloading = page.waitForEvent('download');
    await press(page, 'Download the account file');
    const file = await (await downloading).path();
    const other = await open('');
    await press(other.page, 'Restore an account from its words');
    const choose = other.page.getByLabel('Or choose the account file');
    await choose.setInputFiles({
      name: 'x.json',
      mimeType: 'text/json',
      buffer: Buffer.from('{}'),
    });
    await other.page.getByText('was changed or damaged').waitFor();
    await choose.setInputFiles(file);
    await other.page.getByText('You can be paid').waitFor();
    expectClean();
    other.expectClean();
  });

  it('makes a file with a password, tries it, and opens the account by it in another browser', async () => {
    const { page, expectClean } = await open('?account=yes');
    await press(page, 'Open with my passkey');
    await page.getByRole('link', { name: 'Ways to open your account' }).click();
    const make = page.getByRole('button', { name: 'Make the file' });
    const password = 'kelp otter tango lamp';
    await page.getByLabel('New password').fill(password);
    await page.getByLabel('The same password again').fill('kelp otter');
    await page.getByText('The two passwords differ').waitFor();
    expect(await make.isDisabled()).toBe(true);
    await look(page, 'Ways to open your account', 'backup-problem');
    await page.getByLabel('The same password again').fill(password);
    const downloading = page.waitForEvent('download');
    await make.click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe('pool-account.age');
    const file = await download.path();
    await page.getByLabel('Now try it').setInputFiles(file);
    await page.getByLabel('Its password').fill(`${password}.`);
    await press(page, 'Try the file');
    await page.getByText('This password does not open this file').waitFor();
    await look(page, 'Ways to open your account', 'backup-try');
    expect(await page.getByText('A file opened your account on').count()).toBe(0);
    await page.getByLabel('Its password').fill(password);
    await press(page, 'Try the file');
    await page.getByText('A file opened your account on 2 November 2026').waitFor();
    await look(page, 'Ways to open your account', 'backup-tried');

    const other = await open('');
    await press(other.page, 'Restore an account from its words');
    await other.page.getByLabel('The file that opens your account').setInputFiles(file);
    await other.page.getByLabel('Its password').fill(password);
    await look(other.page, 'Restore your account', 'restore-backup');
    await press(other.page, 'Open the file');
    await press(other.page, 'Make a passkey');
    await other.page.getByText('You can be paid').waitFor();
    expectClean();
    other.expectClean();
  });

  it('follows a link that is clicked as soon as it is there', async () => {
    const { page, expectClean } = await open('?account=yes');
    await page.evaluate(`new MutationObserver((_, observer) => {
      const link = document.querySelector('a[href="#passkeys"]');
      if (link === null) return;
      observer.disconnect();
      link.click();
    }).observe(document.body, { childList: true, subtree: true })`);
    await press(page, 'Open with my passkey');
    await page.getByLabel('New password').waitFor();
    expectClean();
  });

  it('says what is wrong with a link, and that the platform does not answer', async () => {
    const used = await open('?invitation=used');
    await used.page.getByText('This invitation was used').waitFor();
    await look(used.page, 'Acme \ufffdLtd invites you', 'invitation-used');
    expect(await used.page.getByRole('button', { name: 'Make my account' }).count()).toBe(0);
    const lost = await open('?invitation=lost');
    await lost.page.getByText('The platform does not answer').waitFor();
    await look(lost.page, 'Your private account', 'welcome-failed');
    used.expectClean();
    lost.expectClean();
  });
});
