// A hostile platform before the payee's page: it serves false notes, settings, payees, paths and outcomes, and keeps spends to itself. Nothing
// false is shown as money, and nobody is paid by it. What a proved note or path is worth, packages/wallet and account-lies.e2e.test.ts test.
import type { NotesResponse, RecipientRecord } from '@pool/api';
import {
  type ChainsFile,
  computeAssetId,
  type EncryptionPublicKey,
  parseEvmAddress,
  parseField,
  parseHex,
} from '@pool/core';
import { sealNote } from '@pool/notes';
import { hasBrowser, press } from '@pool/testkit/browser';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAccount } from '../../../packages/wallet/src/browser/keys/account.ts';
import { parseRecoveryWords } from '../../../packages/wallet/src/browser/keys/recovery-words.ts';
import { chainId } from './chain/local-chain.ts';
import { fetchTokenBalance } from './demo/chain-facts.ts';
import {
  keepAccount,
  type Page,
  type PayeePlace,
  restoreAccount,
  reviewWithdrawal,
  see,
  showWords,
  startPayeePlace,
} from './fixtures/payee-place.ts';

type ServedNote = NotesResponse['notes'][number];
type Found = { readonly recipients: readonly RecipientRecord[] };
type RpcCall = { readonly id: number; readonly method?: string };
type Rpc = RpcCall | readonly RpcCall[];
type Profile = Awaited<ReturnType<PayeePlace['openProfile']>>;
const paths = {
  chains: '**/payee/chains.json',
  notes: /\/agent-edge\/notes\?/,
  lookup: '**/agent-edge/recipients/lookup',
  eligibility: '**/agent-edge/eligibility-paths',
  spends: /\/agent-edge\/spends/,
};

describe.skipIf(!hasBrowser)('a hostile platform (without Chromium it is skipped)', () => {
  let place: PayeePlace;
  let profile: Profile;
  let words: readonly string[];
  let ownKey: EncryptionPublicKey;
  beforeAll(async () => {
    place = await startPayeePlace(2);
    profile = await place.openProfile();
    const page = await profile.openTab(await place.invite('reference-1'));
    words = await showWords(page);
    const address = await keepAccount(page, words);
    await press(page, 'Register my account');
    await see(page, /^You can be paid$/);
    await place.pay(address, '3000000000');
    const { domain } = place.stack.chains.evidence;
    const account = await openAccount(parseRecoveryWords(words.join(' ')), domain);
    ownKey = account.encryptionPublicKey;
    account.close();
    await page.close();
  });
  afterAll(() => place.end());

  /** Changes the answers of a path. @returns how many it changed, and its end */
  async function lie<T>(
    { context }: Profile,
    path: string | RegExp,
    change: (answer: T) => unknown,
  ) {
    let applied = 0;
    await context.route(path, async (route) => {
      const response = await route.fetch();
      const json = response.ok() ? change((await response.json()) as T) : await response.json();
      if (response.ok()) applied += 1;
      await route.fulfill({ response, json });
    });
    return { applied: () => applied, end: () => context.unroute(path) };
  }

  /** A note of 9,000 USDC that opens with the account's key. */
  function forge(note: ServedNote, commitment: string): ServedNote {
    const { contracts, tokens } = place.stack.place;
    const sealed = sealNote({
      ...{ amount: 9_000_000_000n, nonce: 7n as never, ephemeral: 12_345n },
      encryptionPublicKey: ownKey,
      commitment: parseField(commitment),
      assetId: computeAssetId(
        chainId,
        parseEvmAddress(contracts.pool),
        parseEvmAddress(tokens['USDC']?.address ?? ''),
      ),
    });
    return { ...note, commitment: commitment as never, sealed: parseHex(sealed) };
  }
  const invented = `0x0b${'ab'.repeat(31)}`;

  it.each<[string, (note: ServedNote) => readonly ServedNote[], RegExp]>([
    ['a larger amount', (note) => [forge(note, note.commitment)], /^0 USDC$/],
    ['another commitment', (note) => [{ ...note, commitment: invented as never }], /^0 USDC$/],
    [
      'a note that is on no chain',
      (note) => [note, { ...forge(note, invented), batchIndex: 1_000 }],
      /^3000 USDC$/,
    ],
  ])('shows nothing as money for %s', async (_, change, expected) => {
    const fresh = await place.openProfile();
    const lies = await lie<NotesResponse>(fresh, paths.notes, (body) => ({
      ...body,
      notes: body.notes.flatMap(change),
    }));
    const page = await fresh.openTab();
    await restoreAccount(page, words);
    await see(page, expected);
    expect(lies.applied()).toBeGreaterThan(0);
    expect(await page.getByText('9000').count()).toBe(0);
    await lies.end();
    await press(page, 'Read the chain again');
    await see(page, /^3000 USDC$/);
    await fresh.context.close();
  });

  it('opens no account with the settings of another platform or pool', async () => {
    const change = (text: (file: string) => string) =>
      lie<ChainsFile>(profile, paths.chains, (file) => JSON.parse(text(JSON.stringify(file))));
    const { domain } = place.stack.chains.evidence;
    const { pool } = place.stack.place.contracts;
    const page = await profile.openTab();
    await press(page, 'Open with my passkey');
    await see(page, /^3000 USDC$/);
    const foreign = await change((file) =>
      file.replace(`"domain":"${domain}"`, '"domain":"x.example"'),
    );
    await page.reload();
    await press(page, 'Open with my passkey');
    await see(page, 'it belongs to another platform');
    expect(foreign.applied()).toBeGreaterThan(0);
    await foreign.end();
    const other = Wallet.createRandom().address;
    const moved = await change((file) => file.replaceAll(pool, other));
    await page.reload();
    await press(page, 'Open with my passkey');
    await see(page, `for the pool ${other}, and your account here is of the pool ${pool}`);
    expect(await page.locator('.balance').count()).toBe(0);
    expect(moved.applied()).toBeGreaterThan(0);
    await moved.end();
    await page.close();
  });

  it('shows no balance that one of two nodes claims', async () => {
    const fresh = await place.openProfile();
    const { rpcUrl } = place.stack;
    const approve = { secondRpcUrl: `${rpcUrl}/second` };
    await lie<ChainsFile>(fresh, paths.chains, ({ chains, ...file }) => ({
      ...file,
      chains: Object.fromEntries(
        Object.entries(chains).map(([key, settings]) => [key, { ...settings, approve }]),
      ),
    }));
    let hides = true;
    await fresh.context.route(approve.secondRpcUrl, async (route) => {
      const asked = [route.request().postDataJSON() as Rpc].flat();
      const response = await route.fetch({ url: rpcUrl });
      const answered = (await response.json()) as Rpc;
      const isLog = ({ id }: RpcCall): boolean =>
        asked.some((call) => call.id === id && call.method === 'eth_getLogs');
      const answers = [answered].flat().map((answer) => ({
        ...answer,
        ...(hides && isLog(answer) ? { result: [] } : {}),
      }));
      const headers = { ...response.headers(), 'access-control-allow-origin': '*' };
      const json = Array.isArray(answered) ? answers : answers[0];
      await route.fulfill({ response, headers, json });
    });
    const page = await fresh.openTab();
    await restoreAccount(page, words);
    await see(page, 'The two nodes of the chain that this page asks say different things');
    expect(await page.locator('.balance').count()).toBe(0);
    hides = false;
    await press(page, 'Read the chain again');
    await see(page, /^3000 USDC$/);
    await fresh.context.close();
  });

  async function openTransfer(): Promise<Page> {
    const page = await profile.openTab();
    await press(page, 'Open with my passkey');
    await see(page, /^3000 USDC$/);
    await page.getByRole('link', { name: 'Pay', exact: true }).click();
    return page;
  }

  it('pays nobody whose keys the platform exchanged, and under no root that it made up', async () => {
    const [ben, thief] = place.stack.holders;
    const lookup = await lie<Found>(profile, paths.lookup, ({ recipients }) => ({
      recipients: recipients.map((record) => ({
        ...record,
        ...{ walletPub: thief?.walletPub, encryptionPublicKey: thief?.encryptionPublicKey },
      })),
    }));
    const page = await openTransfer();
    await page.getByLabel('Name, for you only').fill('ben');
    await page.getByLabel('Their wallet key').fill(ben?.walletPub ?? '');
    await press(page, 'Save the contact');
    await see(page, 'The platform shows other keys for this contact');
    expect(lookup.applied()).toBeGreaterThan(0);
    await lookup.end();
    await press(page, 'Save the contact');
    await page.getByLabel('To', { exact: true }).selectOption('ben');
    await page.getByLabel('Amount in USDC').fill('10');
    const roots = await lie<object>(profile, paths.eligibility, (body) => ({
      ...body,
      root: `0x${'07'.repeat(32)}`,
    }));
    await press(page, 'Pay now');
    await see(page, 'The platform gave a false answer');
    expect([roots.applied(), await place.countSpends()]).toEqual([1, 0]);
    await roots.end();
    await press(page, 'Pay now');
    await see(page, 'ben has 10 USDC.');
    expect(await place.countSpends()).toBe(1);
    await page.close();
  });

  it('takes the word of nobody but the chain that a withdrawal was made', async () => {
    const savings = Wallet.createRandom().address;
    const page = await profile.openTab();
    await press(page, 'Open with my passkey');
    await see(page, /^2990 USDC$/);
    await reviewWithdrawal(page, '100', savings);
    let asked = 0;
    let outRoot: unknown;
    await profile.context.route(paths.spends, async (route) => {
      const posted = route.request().postDataJSON() as { spend: { outRoot: string } } | null;
      outRoot = posted?.spend.outRoot ?? outRoot;
      asked += 1;
      const row = { key: 'invented', state: 'settled', chain: place.stack.chain, outRoot };
      const deadline = Math.floor(Date.now() / 1_000) + 900;
      await route.fulfill({ json: { ...row, deadline, txHash: invented, blockNumber: 1 } });
    });
    await press(page, 'Withdraw now');
    await expect.poll(() => asked).toBeGreaterThan(2);
    await see(page, 'Waiting for the chain');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).not.toBe('Sent');
    expect(await place.countSpends()).toBe(1);
    await profile.context.unroute(paths.spends);
    await page.getByRole('heading', { level: 1, name: 'Sent' }).waitFor();
    expect(await page.getByText(invented).count()).toBe(0);
    expect(await fetchTokenBalance(place.stack.place, 'USDC', savings)).toBe(100_000_000n);
    expect(await place.countSpends()).toBe(2);
  });
});
