// The history in the agent: times and withdrawals from the chain, payees from the agent's own archive.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentRoutes, historyPageSize } from '@pool/api';
import {
  bigintToHex32,
  type EvmChainSettings,
  type Hex32,
  PoolError,
  parseEvmAddress,
  type SpendManifest,
} from '@pool/core';
import { createFakeHolder } from '@pool/testkit';
import * as v from 'valibot';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ArchivedSpend } from '../../archive/spend-archive.ts';
import type { EvmRecords } from '../../evm/evm-records.ts';
import type { Holder } from '../../holder/holder.ts';
import type { Movement } from '../../sync/build-history.ts';
import { createHolderHistory } from './holder-history.ts';

const anna = createFakeHolder(1);
const ben = createFakeHolder(2);
const address = parseEvmAddress('0x9fe46736679d2d9a65f0992f2272de9f3c7fa6e0');

const settings: EvmChainSettings = {
  family: 'evm',
  chainId: 31337,
  rpcUrl: 'http://127.0.0.1:9',
  pool: parseEvmAddress('0x5fbdb2315678afecb367f032d93f642f64180aa3'),
  registry: address,
  deployedAtBlock: 5,
  finality: { kind: 'depth', blocks: 1 },
  maxRecipients: 3,
  tokens: {
    USDC: { address: parseEvmAddress('0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'), decimals: 6 },
  },
};

function place(index: number) {
  return { index, txHash: bigintToHex32(BigInt(index + 1)), blockNumber: 100 + index };
}

function received(index: number, balance: bigint): Movement {
  const commitment = bigintToHex32(BigInt(index));
  const rest = { memo: '=1+1', slot: 2, commitment, isChange: false };
  return { kind: 'received', id: `${index}.2`, ...place(index), amount: 10n, balance, ...rest };
}

function spent(index: number, change: bigint, balance: bigint): Movement {
  const outRoot = bigintToHex32(BigInt(500 + index));
  return { kind: 'spent', id: `${index}`, ...place(index), spent: 10n, change, balance, outRoot };
}

/** A block every 100 seconds. */
function timeOf(block: number): number {
  return 1_767_225_600 + 100 * (block - 100);
}

function start(
  movements: readonly Movement[],
  options: {
    readonly locked?: { readonly amount: bigint; readonly untilSeconds: number };
    readonly home?: string;
    readonly withdrawals?: Readonly<Record<number, bigint>>;
    readonly archive?: Readonly<Record<Hex32, ArchivedSpend>>;
    /** Transactions whose gas the holder paid. */
    readonly sent?: readonly Hex32[] | PoolError;
    readonly gas?: PoolError;
  } = {},
) {
  const asked: string[] = [];
  const warnings: unknown[] = [];
  const records: EvmRecords = {
    fetchFinalBlock: async () => 1_000,
    fetchBlockTime: async (block) => {
      asked.push(`time ${block}`);
      return timeOf(block);
    },
    fetchSpendCalldata: async (txHash) => {
      asked.push(`call ${Number(BigInt(txHash)) - 1}`);
      const index = Number(BigInt(txHash)) - 1;
      const withdrawAmount = options.withdrawals?.[index];
      return withdrawAmount === undefined
        ? undefined
        : {
            outRoot: bigintToHex32(BigInt(500 + index)),
            withdrawAmount,
            recipient: withdrawAmount === 0n ? undefined : address,
          };
    },
    fetchFunder: async () => undefined,
    fetchGasCost: async (txHash) => {
      asked.push(`gas ${Number(BigInt(txHash)) - 1}`);
      if (options.gas !== undefined) {
        throw options.gas;
      }
      return 481_000n;
    },
    fetchTransactionLeaves: async () => [],
    fetchTokenUnit: async () => ({ symbol: 'USDC', decimals: 6 }),
    fetchLeaves: async () => [],
    close: () => undefined,
  };
  const history = createHolderHistory({
    readLocked: async () => options.locked,
    home: options.home,
    notes: {
      holder: async () => ({ walletPub: anna.walletPub }) as unknown as Holder,
      async readMovements(symbol) {
        if (symbol !== 'USDC') {
          throw new PoolError('unknown_token', 'token must be USDC');
        }
        return { chain: { key: 'anvil', settings }, movements };
      },
    },
    findSpend: async (outRoot) => options.archive?.[outRoot],
    listSentHashes(chainId) {
      if (options.sent instanceof PoolError) {
        throw options.sent;
      }
      return new Set(chainId === 31337 ? options.sent : []);
    },
    log: { warn: (fields) => void warnings.push(fields) },
    createRecords: () => records,
  });
  onTestFinished(() => history.close());
  return { read: history.read, asked, warnings };
}

describe('the history in the agent', () => {
  it('has what spends that are underway lock, and nothing of it if there is none', async () => {
    const locked = { amount: 3n, untilSeconds: 1_790_000_000 };
    expect(await start([received(1, 10n)], { locked }).read({ token: 'USDC' })).toMatchObject({
      locked: '3',
      lockedUntil: '2026-09-21T14:13:20Z',
    });
    expect(await start([received(1, 10n)]).read({ token: 'USDC' })).not.toHaveProperty('locked');
  });

  it('has UTC times, amounts with the balance after each, and the memo as it is [service.viewing-key-moves-nothing]', async () => {
    const { read } = start([received(0, 10n), spent(1, 4n, 4n)], { withdrawals: { 1: 0n } });
    expect(await read({ token: 'USDC' })).toEqual({
      chain: 'anvil',
      symbol: 'USDC',
      decimals: 6,
      walletPub: anna.walletPub,
      more: false,
      entries: [
        {
          kind: 'received',
          id: '0.2',
          time: '2026-01-01T00:00:00Z',
          index: 0,
          txHash: bigintToHex32(1n),
          balance: '10',
          amount: '10',
          memo: '=1+1',
          slot: 2,
          commitment: bigintToHex32(0n),
          isChange: false,
        },
        {
          kind: 'transfer',
          id: '1',
          time: '2026-01-01T00:01:40Z',
          index: 1,
          txHash: bigintToHex32(2n),
          balance: '4',
          spent: '10',
          change: '4',
          fee: '0',
          amount: '6',
        },
      ],
    });
  });

  it('has the payees while the archive has them, and the address of a withdrawal from the chain', async () => {
    const manifest = {
      withdrawAmount: '0',
      outputs: [{ walletPub: ben.walletPub, amount: '6', memo: 'rent' }],
    } as unknown as SpendManifest;
    const archived = { secrets: { manifest } } as unknown as ArchivedSpend;
    const { read } = start([spent(1, 4n, 4n), spent(2, 0n, 0n), spent(3, 10n, 0n)], {
      withdrawals: { 1: 0n, 2: 10n, 3: 0n },
      archive: { [bigintToHex32(501n)]: archived },
    });
    const { entries } = await read({ token: 'USDC' });
    expect(entries).toMatchObject([
      { kind: 'transfer', payees: [{ walletPub: ben.walletPub, amount: '6', memo: 'rent' }] },
      { kind: 'send', amount: '10', address },
      { kind: 'merge', spent: '10', change: '10' },
    ]);
  });

  it('has no amount for a transfer one of whose notes is missing, and the amount of its payees while the archive has them', async () => {
    const manifest = {
      withdrawAmount: '0',
      outputs: [{ walletPub: ben.walletPub, amount: '6' }],
    } as unknown as SpendManifest;
    const archived = { secrets: { manifest } } as unknown as ArchivedSpend;
    const { read } = start([spent(1, 25n, 25n), spent(2, 25n, 40n), spent(3, 10n, 40n)], {
      withdrawals: { 1: 0n, 2: 0n, 3: 0n },
      archive: { [bigintToHex32(502n)]: archived, [bigintToHex32(503n)]: archived },
    });
    const answer = await read({ token: 'USDC' });
    expect(v.is(agentRoutes.history.answers[200].schema, answer)).toBe(true);
    const { entries } = answer;
    expect(entries[0]).toMatchObject({ kind: 'transfer', spent: '10', change: '25' });
    expect(entries[0]).not.toHaveProperty('amount');
    expect(entries.slice(1)).toMatchObject([
      { kind: 'transfer', amount: '6', payees: [{ amount: '6' }] },
      { kind: 'transfer', amount: '6', payees: [{ amount: '6' }] },
    ]);
  });

  it('takes a withdrawal from the archive if another contract called the pool', async () => {
    const manifest = { withdrawAmount: '10', recipient: address, outputs: [] };
    const archived = { secrets: { manifest } } as unknown as ArchivedSpend;
    const { read } = start([spent(2, 0n, 0n)], { archive: { [bigintToHex32(502n)]: archived } });
    expect((await read({ token: 'USDC' })).entries).toMatchObject([{ kind: 'send', address }]);
  });

  it('has the gas that the holder paid itself, and asks the chain about it once', async () => {
    const home = mkdtempSync(join(tmpdir(), 'pool-home-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const movements = [spent(1, 0n, 0n), spent(2, 0n, 0n)];
    const options = { home, withdrawals: { 1: 10n, 2: 10n }, sent: [bigintToHex32(3n)] };
    const first = start(movements, options);
    const { entries } = await first.read({ token: 'USDC' });
    expect(entries[0]).not.toHaveProperty('gasWei');
    expect(entries[1]).toMatchObject({ kind: 'send', fee: '0', gasWei: '481000' });
    expect(first.asked.filter((question) => question.startsWith('gas'))).toEqual(['gas 2']);
    const second = start(movements, options);
    expect((await second.read({ token: 'USDC' })).entries).toEqual(entries);
    expect(second.asked).toEqual([]);
  });

  it.each([
    ['a receipt without its price', { gas: new PoolError('chain_unreachable', 'no price') }],
    ['a file of sent transactions that is locked', { sent: new PoolError('internal_error', '') }],
  ])('leaves the gas out, and says so in the log, after %s', async (_title, failure) => {
    const options = { withdrawals: { 2: 10n }, sent: [bigintToHex32(3n)], ...failure };
    const { read, warnings } = start([spent(2, 0n, 0n)], options);
    const { entries } = await read({ token: 'USDC' });
    expect(entries).toMatchObject([{ kind: 'send', fee: '0' }]);
    expect(entries[0]).not.toHaveProperty('gasWei');
    const [{ code }] = Object.values(failure) as [PoolError];
    expect(warnings).toEqual([{ code }]);
  });

  it.each([
    [{ from: timeOf(101) }, ['1.2', '2.2', '3.2']],
    [{ from: timeOf(101) + 1 }, ['2.2', '3.2']],
    [{ to: timeOf(102) }, ['0.2', '1.2']],
    [{ from: timeOf(101), to: timeOf(101) + 1 }, ['1.2']],
    [{ from: timeOf(500) }, []],
    [{ after: '1.2' }, ['2.2', '3.2']],
    [{ after: '1' }, ['1.2', '2.2', '3.2']],
    [{ after: '9.9' }, []],
    [{ after: '1.2', to: timeOf(103) }, ['2.2']],
  ])('selects %j, with the balance over everything before', async (range, ids) => {
    const { read } = start([0, 1, 2, 3].map((index) => received(index, BigInt(10 * index + 10))));
    const { entries } = await read({ token: 'USDC', ...range });
    expect(entries.map(({ id }) => id)).toEqual(ids);
    for (const { balance, index } of entries) {
      expect(balance).toBe(`${10 * index + 10}`);
    }
  });

  it('is served in pages that leave nothing out and repeat nothing', async () => {
    const count = historyPageSize + 3;
    const { read } = start(Array.from({ length: count }, (_, index) => received(index, 1n)));
    const first = await read({ token: 'USDC' });
    expect([first.entries.length, first.more]).toEqual([historyPageSize, true]);
    const rest = await read({ token: 'USDC', after: first.entries.at(-1)?.id });
    expect(rest.entries.map(({ index }) => index)).toEqual([500, 501, 502]);
    expect(rest.more).toBe(false);
  });

  it('asks the chain about each block and spend once, also after a restart', async () => {
    const home = mkdtempSync(join(tmpdir(), 'pool-home-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const movements = [received(0, 10n), spent(1, 0n, 0n)];
    const options = { home, withdrawals: { 1: 10n } };
    const first = start(movements, options);
    const before = await first.read({ token: 'USDC' });
    expect(first.asked).toEqual(['time 100', 'time 101', 'call 1']);
    const second = start(movements, options);
    expect(await second.read({ token: 'USDC' })).toEqual(before);
    expect(second.asked).toEqual([]);
    expect(statSync(join(home, 'history-facts.sqlite')).mode & 0o777).toBe(0o600);
  });
});
