// The keys with which tabs of one account call the platform.
import { PoolError, Secret } from '@pool/core';
import { expect, it } from 'vitest';
import { createBrowser } from '../fixtures/browser-store.ts';
import { createPlatformCalls, type EdgeCalls } from './platform-calls.ts';

it('makes one key for tabs that need it at once, and says which ones it keeps', async () => {
  const browser = createBrowser();
  const stored = new Map([['edge', 'edge key']]);
  const made: string[][] = [];
  const revoked = new Set<string>();
  const openTab = () =>
    createPlatformCalls({
      chain: 'base',
      createClient: (token) =>
        ({
          async getNotes() {
            if (revoked.has(token.reveal())) throw new PoolError('unauthorized', 'revoked');
            return { notes: [] };
          },
        }) as unknown as EdgeCalls,
      async mintKey(kind, held) {
        made.push([kind, ...held.map((key) => key.reveal())]);
        await new Promise((resolve) => setTimeout(resolve, 5));
        return new Secret(`key ${made.length}`);
      },
      records: {
        find: async (name) => stored.get(name),
        async change([name = ''], change) {
          stored.set(name, change([])[0] ?? '');
        },
      },
      locks: browser.createLocks(),
    });
  const tabs = [openTab(), openTab()];
  const readAll = () => Promise.all(tabs.map((tab) => tab.deliveries.fetchPage('USDC', undefined)));

  await readAll();
  expect(made).toEqual([['holder.read', 'edge key']]);
  // Another browser needed room for a key of its own. Nothing but the key is lost.
  revoked.add('key 1');
  expect(await readAll()).toEqual([{ notes: [] }, { notes: [] }]);
  expect(made).toEqual([
    ['holder.read', 'edge key'],
    ['holder.read', 'key 1', 'edge key'],
  ]);
});
