// The auditor's page in a real browser, with disclosures of a payer and of a payee about notes that the real contracts have on a real
// chain.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Disclosure, DisclosureContent } from '@pool/core';
import { hasBrowser, openBrowser } from '@pool/testkit/browser';
import { serializeDisclosure } from '@pool/wallet';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type DisclosedBatch,
  startDisclosedBatch,
} from '../../../packages/wallet/src/fixtures/disclosed-batch.ts';
import { look, openServed, type Page } from './served-page.ts';

const app = resolve(import.meta.dirname, '..');
const memo = '<img src=x onerror=alert(1)> Salary November';
const fileName = '<img src=x onerror=alert(1)>\u202e.json';
const challenge = 'auditor.example/7f3a91c0';
/** Before somebody verifies. */
const maxPageBytes = 60_000;

describe.skipIf(!hasBrowser)("the auditor's page (without Chromium it is skipped)", () => {
  let folder: string;
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  let chain: DisclosedBatch;
  let payer: Disclosure;
  let payee: Disclosure;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pool-audit-'));
    await build({
      configFile: join(app, 'vite.config.js'),
      root: app,
      mode: 'audit',
      logLevel: 'silent',
      build: { outDir: folder },
    });
    browser = await openBrowser();
    chain = await startDisclosedBatch({
      ...{ amounts: [3_120_500n, 7n], memos: [memo, 'rent'], challenge },
      purpose: 'a loan <b>now</b>',
    });
    ({ payer, payee } = chain);
  });
  afterAll(async () => {
    await browser.close();
    await chain.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function open() {
    const opened = await openServed(browser, folder, 'audit.html');
    await opened.page.getByRole('heading', { name: 'Verify a payslip' }).waitFor();
    return opened;
  }

  async function choose(page: Page, text: string, name = 'proof.json'): Promise<void> {
    await page
      .getByLabel('Disclosure file')
      .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) });
  }

  /** Fills the fields, and verifies. */
  async function verify(
    page: Page,
    text: string,
    fields: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    await choose(page, text);
    const { rpcUrl, pool } = chain.settings;
    const all = { 'RPC of the chain': rpcUrl, 'Pool contract': pool, ...fields };
    for (const [label, value] of Object.entries(all)) {
      await page.getByLabel(label, { exact: true }).fill(value);
    }
    await page.getByRole('button', { name: 'Verify' }).click();
  }

  const proved = (page: Page) =>
    page.getByRole('heading', { name: 'Every payment in this file is proved', exact: true });

  /** The value beside a name, in each payment. */
  const listed = (page: Page, name: string) =>
    page
      .locator('.facts div')
      .filter({ has: page.locator('dt', { hasText: new RegExp(`^${name}$`) }) })
      .locator('dd')
      .allTextContents();

  it('proves what a payer shows, to a reader of two nodes, and a stranger’s text stays text', async () => {
    const { page, expectClean } = await open();
    const second = chain.settings.rpcUrl.replace('127.0.0.1', 'localhost');
    await look(page, 'Verify a payslip', 'audit');
    await choose(page, 'x', fileName);
    await page.getByText('<img src=x onerror=alert(1)>\ufffd.json').waitFor();
    await verify(page, serializeDisclosure(payer), {
      'Second RPC (optional)': second,
      'Challenge (optional)': challenge,
      'Platform (optional)': 'https://platform.test',
    });
    await proved(page).waitFor();
    await look(page, 'Verify a payslip', 'audit-proved');
    expect(await listed(page, 'Amount')).toEqual(['3.1205 USDC', '0.000007 USDC']);
    expect(await listed(page, 'Proved together')).toEqual(['3.120507 USDC']);
    expect(await listed(page, 'Text')).toEqual([memo, 'rent']);
    expect(await listed(page, 'Who paid')).toEqual([chain.funder, chain.funder]);
    const addresses = chain.holders.map(({ address }) => address);
    expect(await listed(page, 'Who received')).toEqual(addresses);
    expect((await listed(page, 'Token'))[0]).toBe(`USDC ${chain.token}`);
    expect(await listed(page, 'Transaction')).toEqual(
      Array.from({ length: 2 }, () => payer.insertions[0]?.txHash),
    );
    const year = String(new Date().getFullYear());
    expect((await listed(page, 'Date')).every((date) => date.includes(year))).toBe(true);
    expect(await listed(page, 'Compared with')).toEqual(['2 RPCs, which agree']);
    expect(await page.locator('main').textContent()).not.toContain('Not proved');
    expect(await page.locator('img, b').count()).toBe(0);
    expectClean([chain.settings.rpcUrl, second]);
  });

  it('proves what a payee shows, and names what it does not', async () => {
    const { page, expectClean } = await open();
    await verify(page, serializeDisclosure(payee));
    await proved(page).waitFor();
    await look(page, 'Verify a payslip', 'audit-payee');
    expect(await listed(page, 'Amount')).toEqual(['3.1205 USDC']);
    expect(await listed(page, 'Who paid')).toEqual(['Not proved. The file does not show it.']);
    expect(await listed(page, 'Text')).toEqual(['Not proved. The file does not show it.']);
    const unchecked = await page.locator('li').allTextContents();
    expect(unchecked).toContain('Who paid: the file does not show it.');
    expect(unchecked).toContain('Whether the RPC tells the truth: no second one was asked.');
    expectClean([chain.settings.rpcUrl]);
  });

  it('takes a file that is dropped', async () => {
    const { page } = await open();
    const dataTransfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['{}'], 'dropped.json'));
      return transfer;
    })()`);
    await page.dispatchEvent('body', 'drop', { dataTransfer });
    await page.getByText('dropped.json').waitFor();
  });

  const serialized = (change: (text: string) => string) => async () => {
    const changed = change(serializeDisclosure(payee));
    expect(changed).not.toBe(serializeDisclosure(payee));
    return changed;
  };
  /** Signed by the payer itself, who lies. */
  const lying = (change: (content: DisclosureContent) => void) => async () => {
    const { signature: _, challenge: _challenge, ...content } = structuredClone(payer);
    change(content);
    return serializeDisclosure(await chain.sign(content));
  };
  it.each([
    [
      'that is no disclosure',
      async () => '{"kind":"invoice"}',
      'This is not a disclosure',
      'asks nobody',
    ],
    ['that is no JSON', async () => 'PK\u0003', 'This is not a disclosure', 'asks nobody'],
    [
      'with an altered amount',
      serialized((text) => text.replace('"3120500"', '"9120500"')),
      'The file was changed after it was signed',
    ],
    [
      'with an altered purpose',
      serialized((text) => text.replace('a loan', 'a gift')),
      'The file was changed after it was signed',
    ],
    [
      'of another pool',
      lying((content) => {
        content.pool = chain.settings.registry;
      }),
      'The file is of another pool contract',
    ],
    [
      'of another chain',
      lying((content) => {
        content.chainId = 1;
      }),
      'The RPC serves another chain than the file names',
    ],
    [
      'whose discloser signs a false amount',
      lying((content) => {
        const [payment] = content.insertions[0]?.payments ?? [];
        if (payment !== undefined) payment.amount = '9120500';
      }),
      'the file shows false values',
    ],
    [
      'whose note is not in the pool',
      lying((content) => {
        const [insertion] = content.insertions;
        if (insertion !== undefined) insertion.index += 1;
      }),
      'The pool has no such payment in a final block',
    ],
    [
      'that was made for somebody else',
      async () => serializeDisclosure(payer),
      'The file was made for a challenge',
    ],
  ])('refuses a file %s, and says why', async (_, make, reason, asks?: string) => {
    const { page, expectClean } = await open();
    await verify(page, await make());
    await page.getByRole('alert').filter({ hasText: reason }).first().waitFor();
    expect(await proved(page).count()).toBe(0);
    await look(page, 'Verify a payslip', `audit-refused-${reason.slice(0, 12)}`);
    expectClean(asks === undefined ? [chain.settings.rpcUrl] : []);
  });

  it('refuses what two nodes answer differently, and a node that does not answer', async () => {
    const { page } = await open();
    await page.route('https://second.example/', async (route) => {
      const call = route.request().postDataJSON() as { readonly method: string };
      const answer = await fetch(chain.settings.rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(call),
      });
      const body = (await answer.json()) as { result: unknown };
      // This node hides the batch.
      if (call.method === 'eth_getLogs') body.result = [];
      await route.fulfill({ json: body, headers: { 'access-control-allow-origin': '*' } });
    });
    const text = serializeDisclosure(payee);
    await verify(page, text, { 'Second RPC (optional)': 'https://second.example/' });
    await page.getByRole('alert').filter({ hasText: 'The two RPCs answer different' }).waitFor();
    await verify(page, text, { 'Second RPC (optional)': 'http://localhost:9/' });
    await page.getByRole('alert').filter({ hasText: 'The RPC does not answer' }).waitFor();
  });

  it('asks for what is missing, and takes no node that is not of the reader’s choice', async () => {
    const { page, expectClean } = await open();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('Choose a file first.').waitFor();
    await look(page, 'Verify a payslip', 'audit-missing');
    const { rpcUrl } = chain.settings;
    await verify(page, '{}', { 'RPC of the chain': 'http://rpc.example', 'Pool contract': '0x12' });
    await page.getByText('Enter an address that begins with https://, or one').waitFor();
    await page.getByText('Enter the address of the pool contract').waitFor();
    await verify(page, '{}', { 'Second RPC (optional)': rpcUrl });
    await page.getByText('Enter another address').waitFor();
    expectClean();
  });

  it('stores nothing, and is small until somebody verifies', async () => {
    const { page, url } = await open();
    const loaded = await page.evaluate<readonly string[]>(
      'performance.getEntriesByType("resource").map(({ name }) => name)',
    );
    const answers = [`${url}/payee/audit.html`, ...loaded].map(async (address) =>
      Buffer.from(await (await fetch(address)).arrayBuffer()),
    );
    const sizes = (await Promise.all(answers)).map((body) => gzipSync(body).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(maxPageBytes);
    await verify(page, serializeDisclosure(payee));
    await proved(page).waitFor();
    const kept = await page.evaluate(
      'indexedDB.databases().then((databases) => [document.cookie, localStorage.length, sessionStorage.length, databases.length])',
    );
    expect(kept).toEqual(['', 0, 0, 0]);
  });
});
