// The notes of an account in a browser: what a closed tab keeps, two tabs, what was changed on disk, and what a copy of the profile shows.
import 'fake-indexeddb/auto';
import { bigintToHex32, fieldToHex } from '@pool/core';
import { beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase, readAllBytes, storageKey } from '../../fixtures/browser-store.ts';
import { makeLeaves, makeReceived, markOf, testAsset } from '../../fixtures/note-rows.ts';
import { openBrowserNotes } from './browser-notes.ts';
import { createSealer } from './sealer.ts';

let count = 0;
let name = '';
beforeEach(() => {
  count += 1;
  name = `notes ${count}`;
});

async function openTab(identity = 'anna') {
  const database = await openTestDatabase(name);
  let discarded = 0;
  const sealer = createSealer(storageKey);
  const onDiscard = (): void => {
    discarded += 1;
  };
  const notes = await openBrowserNotes({ database, sealer, identity, onDiscard });
  return { ...notes, database, discarded: () => discarded };
}

type StoreClass = {
  readonly prototype: {
    readonly transaction: { abort(): void };
    put(this: StoreClass['prototype'], ...given: unknown[]): unknown;
  };
};

type Tab = Awaited<ReturnType<typeof openTab>>;

/** What a sync does with notes: the archive first. */
function receive({ store, archive }: Tab, first: number, added: number): void {
  store.appendLeaves(makeLeaves(first, added), markOf(first + added - 1));
  const notes = makeReceived(first, added);
  const written = archive.append(notes);
  store.appendNotes(notes, {
    listing: { assetId: testAsset, place: { cursor: `${first + added}.0`, notes: first + added } },
    ...(written === undefined
      ? {}
      : { archived: { end: written.end, waitingFrom: undefined, leafCount: 0 } }),
  });
}

function archivedLeaves({ archive }: Tab): readonly number[] {
  return [...archive.read(0)].map(({ note }) => note.leafIndex);
}

describe('the notes of an account in a browser', () => {
  it('are at the next visit what they were when they were saved, and have the archive with the cache', async () => {
    const first = await openTab();
    for (const from of [0, 3, 6]) {
      receive(first, from, 3);
      await first.save();
    }
    // Not saved: the tab is closed.
    receive(first, 9, 3);
    const again = await openTab();
    expect(again.store.leafCount).toBe(9);
    expect(again.store.readNotes()).toEqual(makeReceived(0, 9));
    expect([...again.store.listSpends(0)].map(({ leafIndex }) => leafIndex)).toEqual([2, 5, 8]);
    expect(again.store.readLastRoot()).toBe(makeLeaves(8, 1)[0]?.newRoot);
    expect(again.store.block).toEqual(markOf(8));
    expect(again.store.readPlace(testAsset)).toEqual({ cursor: '9.0', notes: 9 });
    expect(archivedLeaves(again)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(again.store.archived).toMatchObject({ end: 9 });
    expect([...again.archive.read(0)][4]?.note).toMatchObject({
      commitment: makeReceived(4, 1)[0]?.commitment,
      sealed: makeReceived(4, 1)[0]?.sealed,
    });
    receive(again, 9, 2);
    await again.save();
    expect((await openTab()).store.leafCount).toBe(11);
  });

  it('are stored whole or not at all', async () => {
    const tab = await openTab();
    receive(tab, 0, 3);
    await tab.save();
    receive(tab, 3, 3);
    const { prototype } = (globalThis as unknown as { readonly IDBObjectStore: StoreClass })
      .IDBObjectStore;
    const { put } = prototype;
    let puts = 0;
    // The page is killed in the middle of the transaction.
    prototype.put = function (...given) {
      puts += 1;
      if (puts === 4) this.transaction.abort();
      return put.apply(this, given);
    };
    await expect(tab.save()).rejects.toBeDefined();
    prototype.put = put;
    expect(puts).toBe(4);
    const again = await openTab();
    expect([again.store.leafCount, archivedLeaves(again)]).toEqual([3, [0, 1, 2]]);
    // The tab goes on with what it has in memory.
    await tab.save();
    expect((await openTab()).store.leafCount).toBe(6);
  });

  it('of a tab are not the cache when another one saved before it, and no note of the archive is lost', async () => {
    const [one, other] = [await openTab(), await openTab()];
    receive(one, 0, 3);
    await one.save();
    receive(other, 0, 5);
    expect(await other.save()).toBe(false);
    // The archive took what the other tab had; the cache is that of the first tab and has not read it.
    const again = await openTab();
    expect(again.store.leafCount).toBe(3);
    expect(archivedLeaves(again)).toEqual([0, 1, 2, 0, 1, 2, 3, 4]);
    expect(again.store.archived.end).toBe(3);
    // The first tab does not know of these records, so it cannot say that it read them.
    receive(one, 3, 1);
    expect(await one.save()).toBe(false);
    // Without the cache, the rewind would be lost.
    one.store.rewind(undefined);
    await expect(one.save()).rejects.toMatchObject({ code: 'note_cache_changed' });
    expect(archivedLeaves(await openTab())).toEqual([0, 1, 2, 0, 1, 2, 3, 4, 3]);
  });

  it('of a tab are not the cache when another one only read blocks', async () => {
    const [one, other] = [await openTab(), await openTab()];
    one.store.appendLeaves([], markOf(7));
    await one.save();
    other.store.appendLeaves([], markOf(8));
    expect(await other.save()).toBe(false);
    expect((await openTab()).store.block).toEqual(markOf(7));
  });

  it('forget what a rewind took away, and nothing of the archive', async () => {
    const tab = await openTab();
    receive(tab, 0, 6);
    await tab.save();
    tab.store.rewind(markOf(2));
    await tab.save();
    const again = await openTab();
    expect([again.store.leafCount, again.store.readNotes().length]).toEqual([3, 3]);
    expect(archivedLeaves(again)).toHaveLength(6);
    tab.store.rewind(undefined);
    await tab.save();
    receive(tab, 0, 2);
    await tab.save();
    expect((await openTab()).store.readNotes()).toEqual(makeReceived(0, 2));
  });

  it('are kept in pages, of which a save writes one', async () => {
    const tab = await openTab();
    const wide = (index: number) => ({
      ...(makeLeaves(index, 1)[0] ?? makeLeaves(0, 1)[0]),
      commitments: Array.from({ length: 4_000 }, (_, slot) => bigintToHex32(BigInt(slot + 1))),
    });
    for (let index = 0; index < 4; index += 1) {
      const leaf = wide(index);
      if (leaf.root === undefined) throw new Error('no leaf');
      tab.store.appendLeaves([leaf as ReturnType<typeof makeLeaves>[number]], markOf(index));
      await tab.save();
    }
    const keys = await tab.database.read('notes', (rows) => rows.getAllKeys());
    expect(keys.filter(([, kind]) => kind === 'page')).toHaveLength(4);
    const again = await openTab();
    expect(again.store.readRoots()).toEqual(tab.store.readRoots());
  });

  it.each([
    ['a page', 'page'],
    ['the checkpoint', 'checkpoint'],
  ] as const)('discard a cache of which %s was changed, and keep the archive', async (_, kind) => {
    const tab = await openTab();
    receive(tab, 0, 3);
    await tab.save();
    await tab.database.write('notes', async (rows) => {
      for (const key of await rows.getAllKeys()) {
        const bytes = await rows.get(key);
        if (key[1] === kind && bytes !== undefined) {
          await rows.put(
            bytes.map((byte, at) => (at === 20 ? byte ^ 1 : byte)),
            key,
          );
        }
      }
    });
    const again = await openTab();
    expect(again.discarded()).toBe(1);
    expect(again.store.leafCount).toBe(0);
    expect(archivedLeaves(again)).toEqual([0, 1, 2]);
    receive(again, 0, 3);
    await again.save();
    expect((await openTab()).store.leafCount).toBe(3);
  });

  it('discard a cache in which an older page was put back, or one is missing', async () => {
    const tab = await openTab();
    receive(tab, 0, 3);
    await tab.save();
    const pages = async () =>
      tab.database.read('notes', async (rows) => {
        const keys = (await rows.getAllKeys()).filter(([, kind]) => kind === 'page');
        return await Promise.all(keys.map(async (key) => [key, await rows.get(key)] as const));
      });
    const [old] = await pages();
    if (old?.[1] === undefined) throw new Error('no page');
    const [key, bytes] = old;
    receive(tab, 3, 3);
    await tab.save();
    await tab.database.write('notes', (rows) => rows.put(bytes, key));
    expect((await openTab()).discarded()).toBe(1);
    await tab.database.write('notes', (rows) => rows.delete(key));
    expect((await openTab()).discarded()).toBe(1);
  });

  it('pass over a damaged record of the archive, and read the others again', async () => {
    const tab = await openTab();
    receive(tab, 0, 3);
    await tab.save();
    await tab.database.write('notes', async (rows) => {
      const keys = (await rows.getAllKeys()).filter(([, kind]) => kind === 'archive');
      await rows.put(new Uint8Array(40), keys[1] ?? ['', 'archive', 0]);
    });
    const again = await openTab();
    expect(archivedLeaves(again)).toEqual([0, 2]);
    expect(again.store.archived.end).toBe(0);
    expect(again.store.leafCount).toBe(3);
  });

  it('of several P are apart', async () => {
    const anna = await openTab('anna');
    receive(anna, 0, 3);
    await anna.save();
    expect((await openTab('ben')).store.leafCount).toBe(0);
  });

  it('show nothing to who copies the profile', async () => {
    const tab = await openTab();
    receive(tab, 0, 3);
    await tab.save();
    const bytes = await readAllBytes(name);
    const [note] = makeReceived(0, 1);
    expect(bytes.length).toBeGreaterThan(5_000);
    for (const plain of [
      note?.memo ?? '',
      note?.txHash ?? '',
      note?.sealed ?? '',
      fieldToHex(note?.commitment ?? testAsset),
      'amount',
      'anna',
      markOf(2).hash,
    ]) {
      expect(plain).not.toBe('');
      expect(bytes).not.toContain(plain.replace('0x', ''));
    }
  });
});
