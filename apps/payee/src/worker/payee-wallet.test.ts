// The wallet of an open account over wallets of @pool/wallet that are fakes: leaving the platform, and settings with another pool.
import { PoolError, parseEvmAddress, Secret } from '@pool/core';
import type { OpenAccount } from '@pool/wallet/browser';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { testSettings } from '../../../../packages/relayer/test/test-settings.ts';
import { openPayeeWallet } from './payee-wallet.ts';
import type { Place } from './place.ts';

const otherPool = parseEvmAddress('0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb');
let opened: { readonly exit: boolean; isClosed: boolean }[];
let failure: PoolError | undefined;
let records: Map<string, unknown>;
beforeEach(() => {
  opened = [];
  failure = undefined;
  records = new Map();
});

vi.mock('@pool/wallet/browser', () => ({
  openBrowserWallet: async ({ exit }: { readonly exit?: object }) => {
    if (failure !== undefined) throw failure;
    const made = { exit: exit !== undefined, isClosed: false };
    const index = opened.push(made);
    return {
      openRecords: () => ({
        find: async (name: string) => records.get(name),
        change: async ([name = '']: string[], change: (found: unknown[]) => unknown[]) =>
          void records.set(name, change([records.get(name)])[0]),
      }),
      progress: () => ({ blocks: { read: 0, total: 0 } }),
      async readBalance() {
        if (made.isClosed) throw new PoolError('stopping', 'closed');
        return { total: BigInt(index), spendable: 0n, asOfBlock: 1, silentSinceMs: undefined };
      },
      close: async () => void Object.assign(made, { isClosed: true }),
    };
  },
}));

function open(pool = testSettings.pool) {
  const place = {
    ...{ page: new URL('https://pool.example/payee/'), platformUrl: 'https://pool.example' },
    chain: { key: 'test', settings: { ...testSettings, pool } },
  } as Place;
  const gasKey = new Secret(`0x${'11'.repeat(32)}`);
  return openPayeeWallet(place, { gasKey, close: () => undefined } as unknown as OpenAccount);
}

describe('leaving the platform', () => {
  it('leaves the wallet open that is in use if it fails, and can be tried again', async () => {
    const wallet = await open();
    failure = new PoolError('store_damaged', 'no');
    await expect(wallet.leavePlatform()).rejects.toMatchObject({ code: 'store_damaged' });
    expect(await wallet.balance('USDC')).toMatchObject({ total: 1n });
    failure = undefined;
    await wallet.leavePlatform();
    await wallet.leavePlatform();
    expect(await wallet.balance('USDC')).toMatchObject({ total: 2n });
    expect(opened).toEqual([
      { exit: false, isClosed: true },
      { exit: true, isClosed: false },
    ]);
    await wallet.close();
  });
});

describe('settings with another pool', () => {
  it('open no account that was read before, and name both pools', async () => {
    const wallet = await open();
    await wallet.sync(() => undefined);
    await wallet.close();
    const details = { configured: otherPool, own: testSettings.pool };
    await expect(open(otherPool)).rejects.toMatchObject({ code: 'invalid-chain', details });
    expect(opened.at(-1)).toMatchObject({ isClosed: true });
    await (await open()).close();
  });

  it('are those of the account if it was never read', async () => {
    await (await open()).close();
    await (await open(otherPool)).close();
    expect(opened).toHaveLength(2);
  });
});
