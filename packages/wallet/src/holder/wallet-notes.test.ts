// The notes of a holder whose cache somebody else saves too: two tabs of one browser.
import 'fake-indexeddb/auto';
import { chainFamilies, fieldToHex, Secret } from '@pool/core';
import { expect, it, onTestFinished } from 'vitest';
import { openBrowserNotes } from '../browser/store/browser-notes.ts';
import { createSealer } from '../browser/store/sealer.ts';
import { openTestDatabase, storageKey } from '../fixtures/browser-store.ts';
import { plainKernels } from '../fixtures/plain-kernels.ts';
import { createSpendWorld } from '../fixtures/spend-world.ts';
import { createWalletNotes } from './wallet-notes.ts';

type World = ReturnType<typeof createSpendWorld>;

/** @param onListing - called during each reading, which waits for it */
function openTab({ chain, context, holder, noteArchive }: World, onListing = async () => {}) {
  const listed = noteArchive.records.map(({ commitment, sealed, leafIndex, slot }) => ({
    ...{ commitment: fieldToHex(commitment), sealed, batchIndex: leafIndex, slot },
  }));
  const notes = createWalletNotes({
    stores: {
      openSpends: () => ({
        listUnkept: async () => [],
        change: async () => Promise.reject(new Error('there is no spend')),
        close: () => undefined,
      }),
      async openNotes(identity) {
        return await openBrowserNotes({
          database: await openTestDatabase('notes of two tabs'),
          sealer: createSealer(storageKey),
          identity: identity.walletPub,
          onDiscard: () => undefined,
        });
      },
    },
    openHolder: async () => ({
      ...holder,
      signer: undefined as never,
      family: chainFamilies.evm,
      viewingKey: new Secret(holder.viewingKey),
      earlier: [],
    }),
    findChain: () => context,
    createHistory: () => ({ ...chain.history, close: () => undefined }),
    createScanner: async () => ({ ...plainKernels, detail: '', close: async () => undefined }),
    createDeliveries: () => ({
      async fetchPage() {
        await onListing();
        return { notes: listed };
      },
    }),
  });
  onTestFinished(() => notes.close());
  return notes;
}

it('shows what one tab read, although another one saves during each reading', async () => {
  const world = createSpendWorld();
  const other = openTab(world);
  let readings = 0;
  const tab = openTab(world, async () => {
    readings += 1;
    await world.clock.sleep(1_000, new AbortController().signal);
    await other.readBalance('USDC');
  });
  for (const reading of [1, 2, 3]) {
    expect(await tab.readBalance('USDC')).toMatchObject({ total: 1_100n, notes: 3 });
    expect(tab.asOfBlock()).toBeGreaterThan(0);
    // Nothing is read twice.
    expect(readings).toBe(reading);
  }
});
