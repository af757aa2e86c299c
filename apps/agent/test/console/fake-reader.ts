/**
 * A fake of the agent's routes for its holder's notes: one balance, and one history. Tests only.
 *
 * @module
 */
import type { openTestConsole } from './console-world.ts';

type Client = NonNullable<NonNullable<Parameters<typeof openTestConsole>[0]>['holder']>['client'];

const place = { time: '2026-11-03T10:00:00Z', index: 1, txHash: `0x${'5c'.repeat(32)}` };
const entries = [
  {
    ...{ kind: 'received', id: '1', ...place, balance: '2500000', amount: '2500000' },
    ...{ memo: '<b>May</b>', slot: 0, commitment: '0x1', isChange: false },
  },
  {
    ...{ kind: 'send', id: '2', ...place, balance: '1000000', spent: '2500000' },
    ...{ change: '1000000', fee: '0', amount: '1500000', address: '0xabc' },
  },
  {
    ...{ kind: 'transfer', id: '3', ...place, balance: '250000', spent: '1000000' },
    ...{ change: '250000', fee: '0', amount: '750000' },
    payees: [
      { walletPub: '0x02aa', amount: '500000' },
      { walletPub: '0x02bb', amount: '250000' },
    ],
  },
];

function readLabels(): ReadonlyMap<string, string> {
  return new Map([['0x02aa', 'ben']]);
}

/** `ranges` is what it was asked for. */
export function createFakeReader(changes: Partial<Client> = {}) {
  const ranges: unknown[] = [];
  const fake = {
    balance: async () => ({
      ...{ total: '1000000', symbol: 'USDC', notes: 1, largestNote: '1000000' },
      ...{ chain: 'anvil', locked: '250000', lockedUntil: '2026-11-29T00:00:00Z' },
    }),
    history: async (_token: string, range: unknown) => {
      ranges.push(range);
      const token = { chain: 'anvil', symbol: 'USDC', decimals: 6, walletPub: '0x77' };
      return { ...token, entries, more: true };
    },
    progress: async () => ({ isRunning: true, blocks: { read: 7, total: 90 }, notes: 0 }),
    ...changes,
  };
  return { ranges, holder: { token: 'USDC', client: fake as never as Client, readLabels } };
}
