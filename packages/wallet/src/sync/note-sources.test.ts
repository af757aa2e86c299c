import { assertField, parseField } from '@pool/core';
import { createNoteScanner, type NoteScanner } from '@pool/notes';
import { createFakeNotePool, type FakeNotePool } from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anna, ben, openSync } from '../fixtures/open-sync.ts';
import {
  createMemoryNoteStore,
  type MemoryNoteArchive,
  type MemoryNoteStore,
} from '../note-files/memory-note-store.ts';
import { rewindStore } from './holder-sync.ts';
import type { OfferedNote } from './import-notes.ts';

let kernels: NoteScanner;
beforeAll(async () => {
  kernels = await createNoteScanner({ threads: 1 });
});
afterAll(() => kernels.close());

function open(pool: FakeNotePool, store?: MemoryNoteStore, archive?: MemoryNoteArchive) {
  return openSync(kernels, pool, store, archive);
}

describe('a note that the platform gets late', () => {
  /** The first batch is not delivered, and the listing is read beyond it. */
  async function readBeyond(pool: FakeNotePool) {
    pool.fundUndelivered([{ holder: anna, amount: 5n }]);
    pool.fund([{ holder: anna, amount: 6n }]);
    pool.fund([{ holder: anna, amount: 7n }]);
    const opened = open(pool);
    expect(await opened.read()).toEqual([13n, 2, 7n]);
    expect(opened.store.readPlace(pool.assetId)).toEqual({ cursor: '1.0', notes: 1 });
    pool.deliver();
    return opened;
  }

  it('is found at the next sync, although its place was passed', async () => {
    const pool = createFakeNotePool({ pageSize: 1 });
    const { read, store } = await readBeyond(pool);
    expect(await read()).toEqual([18n, 3, 7n]);
    expect(store.readPlace(pool.assetId)).toEqual({ cursor: '1.0', notes: 2 });
    const { writes } = store;
    expect(await read()).toEqual([18n, 3, 7n]);
    expect(store.writes).toBe(writes);
  });

  it('is found by a process that continues with the store', async () => {
    const pool = createFakeNotePool({ pageSize: 1 });
    const { store, archive } = await readBeyond(pool);
    expect(await open(pool, store, archive).read()).toEqual([18n, 3, 7n]);
  });

  it('is found by a rescan if the platform does not count its notes', async () => {
    const pool = createFakeNotePool({ pageSize: 1 });
    const { fetchPage } = pool.deliveries;
    pool.deliveries.fetchPage = async (symbol, cursor) => {
      const { before: _, ...page } = await fetchPage(symbol, cursor);
      return page;
    };
    const { read, store, archive } = await readBeyond(pool);
    expect(await read()).toEqual([13n, 2, 7n]);
    await rewindStore({ store, archive, history: pool.history }, 1_000_000);
    expect(await open(pool, store, archive).read()).toEqual([18n, 3, 7n]);
  });

  it('does not make a platform that counts wrongly stop the sync', async () => {
    const pool = createFakeNotePool({ pageSize: 1 });
    const { fetchPage } = pool.deliveries;
    pool.deliveries.fetchPage = async (symbol, cursor) => ({
      ...(await fetchPage(symbol, cursor)),
      before: 99,
    });
    const { read } = await readBeyond(pool);
    expect(await read()).toEqual([18n, 3, 7n]);
    expect(await read()).toEqual([18n, 3, 7n]);
  });
});

describe('the archive', () => {
  it('has what the holder received, and not what is worth nothing or another’s', async () => {
    const pool = createFakeNotePool();
    pool.fund([
      { holder: anna, amount: 5n },
      { holder: ben, amount: 7n },
      { holder: anna, amount: 0n },
    ]);
    const { read, archive } = open(pool);
    await read();
    await read();
    const [note] = pool.listing;
    expect(archive.records).toEqual([
      expect.objectContaining({ sealed: note?.sealed, leafIndex: 0, slot: 0 }),
    ]);
  });

  it.each([undefined, 12, 1_000_000])(
    'keeps notes that the platform does not serve any more through a rescan from block %s',
    async (fromBlock) => {
      const pool = createFakeNotePool();
      pool.fund([{ holder: anna, amount: 5n }]);
      pool.fund([{ holder: anna, amount: 6n }]);
      const { read, store, archive } = open(pool);
      await read();
      pool.listing.length = 0;
      await rewindStore({ store, archive, history: pool.history }, fromBlock);
      expect(await open(pool, store, archive).read()).toEqual([11n, 2, 6n]);
    },
  );

  it('gives a new store its notes, without the platform', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const { read, archive } = open(pool);
    await read();
    pool.listing.length = 0;
    const { records } = archive;
    expect(await open(pool, createMemoryNoteStore(), archive).read()).toEqual([5n, 1, 5n]);
    expect(archive.records).toBe(records);
  });

  it('gets from the store what it lost, also before a rescan', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 5n }]);
    pool.fund([{ holder: anna, amount: 6n }]);
    const { read, store, archive } = open(pool);
    await read();
    pool.listing.length = 0;
    archive.records = archive.records.slice(1);
    expect(await read()).toEqual([11n, 2, 6n]);
    expect(archive.records).toHaveLength(2);
    archive.records = [];
    await rewindStore({ store, archive, history: pool.history }, undefined);
    expect(await open(pool, store, archive).read()).toEqual([11n, 2, 6n]);
  });

  it('adds nothing that the chain does not have, and tries it again when the chain has more', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const { read, archive, store } = open(pool);
    await read();
    const other = createFakeNotePool();
    other.fund([{ holder: ben, amount: 1n }]);
    other.fund([{ holder: anna, amount: 900n, nonce: assertField(4_242n) }]);
    const later = open(other);
    await later.read();
    archive.append(later.archive.records);
    expect(await read()).toEqual([5n, 1, 5n]);
    const { writes } = store;
    expect(await read()).toEqual([5n, 1, 5n]);
    expect(store.writes).toBe(writes);
    pool.fundUndelivered([{ holder: ben, amount: 3n }]);
    pool.fundUndelivered([{ holder: anna, amount: 900n, nonce: assertField(4_242n) }]);
    expect(await read()).toEqual([905n, 2, 900n]);
  });

  it('adds nothing whose bytes are not those of a note of this holder', async () => {
    const pool = createFakeNotePool();
    pool.fund([
      { holder: anna, amount: 5n },
      { holder: ben, amount: 7n },
    ]);
    const { read, archive } = open(pool);
    await read();
    const [own] = archive.records;
    const [, foreign] = pool.listing;
    archive.append([
      { ...own!, slot: 1, commitment: assertField(BigInt(foreign!.commitment)) },
      {
        ...own!,
        slot: 1,
        commitment: assertField(BigInt(foreign!.commitment)),
        sealed: foreign!.sealed,
      },
    ]);
    expect(await read()).toEqual([5n, 1, 5n]);
  });

  it('finds a note again that the chain has at another place after a rescan', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 5n, nonce: assertField(77n) }]);
    const { read, archive } = open(pool);
    await read();
    const moved = createFakeNotePool();
    moved.fund([{ holder: ben, amount: 1n }]);
    moved.fundUndelivered([
      { holder: ben, amount: 2n },
      { holder: anna, amount: 5n, nonce: assertField(77n) },
    ]);
    const again = open(moved, createMemoryNoteStore(), archive);
    expect(await again.read()).toEqual([5n, 1, 5n]);
    expect(again.sync.listSpendable(moved.assetId)).toMatchObject([{ leafIndex: 1, slot: 1 }]);
  });
});

describe('a sync that tells what is new', () => {
  it('returns each note once, and no change of the holder’s own spends', async () => {
    const pool = createFakeNotePool();
    const nonce = assertField(888n);
    pool.fund([{ holder: anna, amount: 5n, nonce }]);
    const { sync } = open(pool);
    const asset = { symbol: pool.symbol, assetId: pool.assetId };
    expect(await sync.sync(asset)).toMatchObject([{ amount: 5n }]);
    pool.spend([pool.nullifierOf({ holder: anna, nonce })], [{ holder: anna, amount: 4n }]);
    pool.spend([assertField(4n)], [{ holder: anna, amount: 3n }]);
    expect(await sync.sync(asset)).toMatchObject([{ amount: 3n }]);
    expect(await sync.sync(asset)).toEqual([]);
  });

  it('returns after a failure what was stored before it', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const { sync } = open(pool);
    const asset = { symbol: pool.symbol, assetId: pool.assetId };
    const { fetchNoteRoot } = pool.history;
    pool.history.fetchNoteRoot = () => Promise.reject(new Error('down'));
    await expect(sync.sync(asset)).rejects.toThrow('down');
    pool.history.fetchNoteRoot = fetchNoteRoot;
    expect(await sync.sync(asset)).toMatchObject([{ amount: 5n }]);
  });
});

describe('notes from a file', () => {
  async function importInto(
    opened: ReturnType<typeof open>,
    pool: FakeNotePool,
    notes: readonly OfferedNote[],
  ) {
    return await opened.sync.importNotes(notes, [assertField(1n), pool.assetId]);
  }

  function offer({ commitment, sealed }: FakeNotePool['listing'][number]): OfferedNote {
    return { commitment: parseField(commitment), sealed };
  }

  it('are kept if the chain has them and the key opens them, without the platform', async () => {
    const pool = createFakeNotePool();
    pool.fund([
      { holder: anna, amount: 5n },
      { holder: anna, amount: 6n },
      { holder: ben, amount: 7n },
    ]);
    const [first, second, foreign] = pool.listing.splice(0).map(offer);
    pool.deliveries.fetchPage = () => Promise.reject(new Error('the platform was asked'));
    const opened = open(pool);
    const damaged = { ...second!, sealed: first!.sealed };
    const stranger = { ...first!, commitment: assertField(12_345n) };
    expect(await importInto(opened, pool, [damaged, first!, foreign!, stranger, second!])).toEqual([
      'not_ours',
      'accepted',
      'not_ours',
      'not_on_chain',
      'accepted',
    ]);
    expect(opened.sync.computeBalance(pool.assetId)).toMatchObject({ total: 11n });
    expect(opened.archive.records).toHaveLength(2);
    expect(await importInto(opened, pool, [second!, first!])).toEqual(['known', 'known']);
    expect(opened.archive.records).toHaveLength(2);
  });

  it('count as spent if they are', async () => {
    const pool = createFakeNotePool();
    const nonce = assertField(999n);
    pool.fund([{ holder: anna, amount: 5n, nonce }]);
    pool.spend([pool.nullifierOf({ holder: anna, nonce })], []);
    const notes = pool.listing.splice(0).map(offer);
    const opened = open(pool);
    expect(await importInto(opened, pool, notes)).toEqual(['accepted']);
    expect(opened.sync.computeBalance(pool.assetId)).toMatchObject({ total: 0n });
  });

  it('stay through a rescan', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const notes = pool.listing.splice(0).map(offer);
    const opened = open(pool);
    await importInto(opened, pool, notes);
    const { store, archive } = opened;
    await rewindStore({ store, archive, history: pool.history }, undefined);
    expect(await open(pool, store, archive).read()).toEqual([5n, 1, 5n]);
  });
});

describe('notes that everybody is served', () => {
  /** A listing in which the note of the first batch is one of everybody's, from the second sync on. */
  async function openLate() {
    const pool = createFakeNotePool({ pageSize: 1 });
    pool.fundUndelivered([{ holder: anna, amount: 5n }]);
    pool.fund([{ holder: anna, amount: 6n }]);
    pool.fund([{ holder: anna, amount: 7n }]);
    const opened = open(pool);
    await opened.read();
    const { fetchPage } = pool.deliveries;
    const own = await Promise.all([undefined, '1.0'].map((cursor) => fetchPage('USDC', cursor)));
    pool.deliver();
    const late = (await fetchPage('USDC', undefined)).notes;
    return { pool, opened, own, late };
  }

  it('are found behind the place of the listing, which is not read again from the start', async () => {
    const { pool, opened, own, late } = await openLate();
    const asked: (string | undefined)[] = [];
    pool.deliveries.fetchPage = (_symbol, cursor) => {
      asked.push(cursor);
      return Promise.resolve({
        ...(own[cursor === undefined ? 0 : 1] ?? { notes: [] }),
        open: late,
      });
    };
    expect(await opened.read()).toEqual([18n, 3, 7n]);
    expect(asked).toEqual(['1.0']);
  });

  it('are refused when one comes twice: such a listing could be endless', async () => {
    const { pool, opened, late } = await openLate();
    let page = 0;
    pool.deliveries.fetchPage = () => {
      page += 1;
      return Promise.resolve({ notes: [], open: late, cursor: `${page}` });
    };
    await expect(opened.read()).rejects.toMatchObject({
      code: 'platform_invalid_response',
      message: expect.stringContaining('twice'),
    });
  });
});

describe('entries of the holder’s own file', () => {
  /** One page that a file has, with a second entry for a place. */
  function openFile(pool: FakeNotePool, add: 'before' | 'after') {
    pool.fund([
      { holder: ben, amount: 1n },
      { holder: anna, amount: 5n },
    ]);
    pool.fund([{ holder: anna, amount: 6n }]);
    const [bens, annas, last] = pool.listing.splice(0);
    const other = { ...annas!, sealed: bens!.sealed };
    const notes = [...(add === 'before' ? [other, annas!] : [annas!, other]), last!];
    pool.deliveries.fetchPage = async () => ({ notes, isOwnFile: true });
    return open(pool);
  }

  it.each(['before', 'after'] as const)(
    'can name one place twice: the one that opens counts, and stands %s the other',
    async (add) => {
      const { read, store } = openFile(createFakeNotePool(), add);
      expect(await read()).toEqual([11n, 2, 6n]);
      expect(await read()).toEqual([11n, 2, 6n]);
      expect(store.readNotes()).toHaveLength(2);
    },
  );

  it('can repeat an entry, which counts once', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const [note] = pool.listing.splice(0);
    pool.deliveries.fetchPage = async () => ({ notes: [note!, note!], isOwnFile: true });
    expect(await open(pool).read()).toEqual([5n, 1, 5n]);
  });
});
