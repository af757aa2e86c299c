// A wallet in a real browser: it finds an account's notes on a real chain, withdraws with a proof that the page makes, and has history and
// balance at the next visit and on another device. When the platform is gone, it withdraws the rest with a transaction of its own.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createArtifactStore, verificationKeys } from '@pool/circuits';
import { bytesToHex, Secret } from '@pool/core';
import { hasBrowser, openBrowser, openPage, openProfile, servePage } from '@pool/testkit/browser';
import { JsonRpcProvider, Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveWalletKey } from '../../../packages/wallet/src/browser/keys/account.ts';
import type {
  PageActions,
  PageInput,
  WithdrawalInput,
} from '../../../packages/wallet/test/browser/page.ts';
import { bundlePage } from '../../../tooling/browser/bundle.ts';
import { enrolHolders, openSession } from './chain/people.ts';
import { fetchTokenBalance } from './demo/chain-facts.ts';
import { startTestStack, type TestStack } from './fixtures/test-stack.ts';

type PageGlobal = { readonly walletPage: PageActions };
type OpenPage = Awaited<ReturnType<typeof openPage>>['page'];

/** Runs in the page. */
function call<TName extends keyof PageActions>(
  page: OpenPage,
  name: TName,
  input: Parameters<PageActions[TName]>[0],
): Promise<Awaited<ReturnType<PageActions[TName]>>> {
  return page.evaluate(
    ([action, given]) =>
      ((globalThis as unknown as PageGlobal).walletPage[action] as (value: unknown) => never)(
        given,
      ),
    [name, input] as const,
  );
}

describe.skipIf(!hasBrowser)('a wallet in a browser (without Chromium it is skipped)', () => {
  let stack: TestStack;
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  let server: Awaited<ReturnType<typeof servePage>>;
  let folder: string;
  let input: PageInput;
  let owner: string;
  const seed = crypto.getRandomValues(new Uint8Array(32));
  const savings = Wallet.createRandom().address;
  const withdrawal: WithdrawalInput = { key: 'one', token: 'USDC', amount: '650', to: savings };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'pool-page-'));
    await bundlePage('packages/wallet/test/browser/page.ts', folder);
    const files = await createArtifactStore({ keyForm: 'compact' }).ensureArtifacts('spend-2x4');
    stack = await startTestStack({ holderCount: 1 });
    const privateKey = new Secret(bytesToHex(deriveWalletKey(new Secret(seed)).reveal()));
    const [holder] = await enrolHolders([privateKey], stack);
    const settings = stack.chains.chains[stack.chain];
    if (holder === undefined || settings?.family !== 'evm')
      throw new Error('no holder, or no chain');
    server = await servePage({
      ...{ folder, isolated: true },
      files: { '/circuit.wasm': String(files.wasm), '/circuit.zkey': String(files.zkey) },
      targets: { '/rpc': stack.rpcUrl, '/platform': stack.platformUrl },
    });
    browser = await openBrowser();
    const session = await openSession(privateKey, stack);
    const keys: Record<string, string> = {};
    for (const kind of ['holder.read', 'holder.send'] as const) {
      keys[kind] = (await session.mintKey(kind, 'a page')).apiKey.reveal();
    }
    owner = holder.address;
    const place = new URL(stack.platformUrl);
    input = {
      chain: stack.chain,
      settings: { ...settings, rpcUrl: `${server.origin}/rpc` },
      seed: [...seed],
      edgeUrl: `${server.origin}/platform/agent-edge`,
      keys,
      evidence: { domain: place.host, uri: stack.platformUrl },
      verificationKey: verificationKeys['spend-2x4'],
    };
    for (const [key, amount] of [
      ['june', '600'],
      ['july', '90'],
    ] as const) {
      await stack.client.disburse(key, {
        token: 'USDC',
        recipients: [
          { recipientAddress: holder.address, amount },
          { recipientAddress: stack.holders[0]?.address ?? '', amount: '5' },
        ],
      });
      expect(await stack.client.waitForJob(key)).toMatchObject({ state: 'done' });
    }
  });
  afterAll(async () => {
    await browser.close();
    server.close();
    await stack.end();
    await rm(folder, { recursive: true, force: true });
  });

  it('withdraws with a proof of the page, has history and balance at the next visit and on another device, and exits without the platform', async () => {
    const context = await openProfile(browser);
    const errors: string[] = [];
    async function visit(given: PageInput = input): Promise<OpenPage> {
      const page = await context.newPage();
      page.on('pageerror', ({ message }) => errors.push(message));
      await page.goto(server.origin);
      await call(page, 'open', given);
      return page;
    }

    const page = await visit();
    expect(await call(page, 'balance', 'USDC')).toEqual({
      total: '690',
      spendable: '690',
      notes: 2,
    });
    expect(await call(page, 'plan', withdrawal)).toMatchObject({
      ...{ operation: 'send', status: 'dry-run', changeAmount: '40' },
    });
    const { receipt, stages } = await call(page, 'withdraw', withdrawal);
    expect(receipt).toMatchObject({ operation: 'send', status: 'success', changeAmount: '40' });
    expect(stages).toEqual(['checking', 'signing', 'proving', 'settling']);
    expect(await fetchTokenBalance(stack.place, 'USDC', savings)).toBe(650n);
    // The tab ends without a word.
    await page.close();

    // The keys of the first visit are stored, and the same key pays nothing again.
    const again = await visit({ ...input, keys: {} });
    expect(await call(again, 'balance', 'USDC')).toEqual({
      total: '40',
      spendable: '40',
      notes: 1,
    });
    expect((await call(again, 'withdraw', withdrawal)).receipt).toEqual(receipt);
    expect(await fetchTokenBalance(stack.place, 'USDC', savings)).toBe(650n);
    const history = await call(again, 'history', 'USDC');
    expect(history.map((entry) => [entry.kind, entry.balance])).toEqual([
      ['received', '600'],
      ['received', '690'],
      ['send', '40'],
    ]);
    expect(history[2]).toMatchObject({ amount: '650', address: savings, change: '40' });
    await call(again, 'close', undefined as never);

    // Nothing but the seed: the change comes from the events of the chain.
    const other = await openPage(browser, server.origin);
    await call(other.page, 'open', input);
    expect(await call(other.page, 'balance', 'USDC')).toMatchObject({ total: '40', notes: 1 });
    await other.page.context().close();

    // The platform is gone: the account pays the gas, and withdraws the rest to itself.
    const provider = new JsonRpcProvider(stack.rpcUrl);
    await provider.send('anvil_setBalance', [owner, '0xde0b6b3a7640000']);
    provider.destroy();
    const edgeUrl = `${server.origin}/nothing`;
    const exit = await visit({ ...input, edgeUrl, keys: {}, gasCapWei: '50000000000000000' });
    const rest: WithdrawalInput = { key: 'exit', token: 'USDC', amount: '40' };
    expect(await call(exit, 'planExit', rest)).toEqual({
      isPaid: true,
      revealed: { sender: owner, recipient: owner, token: 'USDC', amount: 40n },
    });
    expect((await call(exit, 'withdraw', rest)).receipt).toMatchObject({ status: 'success' });
    expect(await fetchTokenBalance(stack.place, 'USDC', owner)).toBe(40n);
    expect(await call(exit, 'balance', 'USDC')).toMatchObject({ total: '0', notes: 0 });
    await context.close();
    expect([...errors, ...other.errors]).toEqual([]);
    expect(server.violations).toEqual([]);
  });
});
