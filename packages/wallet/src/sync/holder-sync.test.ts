import { assertField, parseHex32 } from '@pool/core';
import { computeNoteRootFromPath, createNoteScanner, type NoteScanner } from '@pool/notes';
import { createFakeNotePool, type FakeNotePool } from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anna, ben, openSync } from '../fixtures/open-sync.ts';
import type { MemoryNoteArchive, MemoryNoteStore } from '../note-files/memory-note-store.ts';
import { rewindStore } from './holder-sync.ts';

let kernels: NoteScanner;
beforeAll(async () => {
  kernels = await createNoteScanner({ threads: 1 });
});
afterAll(() => kernels.close());

function open(pool: FakeNotePool, store?: MemoryNoteStore, archive?: MemoryNoteArchive) {
  return openSync(kernels, pool, store, archive);
}

describe('a sync', () => {
  it('sums the holder’s own notes over all batches and pages [balance.total]', async () => {
    const pool = createFakeNotePool();
    pool.fund([
      { holder: anna, amount: 5n, memo: 'May' },
      { holder: ben, amount: 7n },
      { holder: anna, amount: 11n },
    ]);
    pool.mine(3_000);
    pool.fund([{ holder: anna, amount: 2n }]);
    pool.fund([{ holder: anna, amount: 3n }]);
    const { read, sync } = open(pool);
    expect(await read()).toEqual([21n, 4, 11n]);
    expect(sync.listSpendable(pool.assetId)[0]).toMatchObject({
      amount: 5n,
      memo: 'May',
      leafIndex: 0,
      slot: 0,
      blockNumber: 11,
    });
  });

  it('is empty in an empty pool', async () => {
    const { read } = open(createFakeNotePool());
    expect(await read()).toEqual([0n, 0, 0n]);
  });

  it('reads only what is new the second time', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const { read, store } = open(pool);
    await read();
    const { reads } = pool;
    const { writes } = store;
    expect(await read()).toEqual([5n, 1, 5n]);
    expect([pool.reads, store.writes]).toEqual([reads, writes]);
    pool.fund([{ holder: anna, amount: 6n }]);
    expect(await read()).toEqual([11n, 2, 6n]);
    expect(pool.reads).toBe(reads + 1);
  });

  it('continues with the store of an earlier process', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const { read, store, archive } = open(pool);
    await read();
    pool.fund([{ holder: anna, amount: 6n }]);
    const { reads } = pool;
    expect(await open(pool, store, archive).read()).toEqual([11n, 2, 6n]);
    expect(pool.reads).toBe(reads + 1);
  });

  it('counts no note that a final spend used up, and counts its change [balance.note-count]', async () => {
    const pool = createFakeNotePool();
    const nonce = assertField(777n);
    pool.fund([
      { holder: anna, amount: 5n, nonce },
      { holder: anna, amount: 6n },
    ]);
    const { read, sync } = open(pool);
    expect(await read()).toEqual([11n, 2, 6n]);
    pool.spend(
      [pool.nullifierOf({ holder: anna, nonce }), assertField(4n)],
      [
        { holder: anna, amount: 1n },
        { holder: ben, amount: 4n },
      ],
    );
    expect(await read()).toEqual([7n, 2, 6n]);
    expect(sync.listSpendable(pool.assetId).map(({ amount }) => amount)).toEqual([6n, 1n]);
  });

  it('counts no note that was spent before its delivery', async () => {
    const pool = createFakeNotePool();
    const nonce = assertField(778n);
    pool.fundUndelivered([{ holder: anna, amount: 5n, nonce }]);
    pool.spend([pool.nullifierOf({ holder: anna, nonce })], []);
    const { read } = open(pool);
    expect(await read()).toEqual([0n, 0, 0n]);
    pool.deliver();
    expect(await read()).toEqual([0n, 0, 0n]);
  });

  it('counts only the larger of two notes with one nullifier [balance.largest-note]', async () => {
    const pool = createFakeNotePool();
    const nonce = assertField(779n);
    pool.fund([{ holder: anna, amount: 9n, nonce }]);
    pool.fund([{ holder: anna, amount: 4n, nonce }]);
    pool.fund([{ holder: anna, amount: 9n, nonce }]);
    const { read, sync } = open(pool);
    expect(await read()).toEqual([9n, 1, 9n]);
    expect(sync.listSpendable(pool.assetId)).toMatchObject([{ leafIndex: 0 }]);
    pool.spend([pool.nullifierOf({ holder: anna, nonce })], []);
    expect(await read()).toEqual([0n, 0, 0n]);
  });

  it('ignores notes of amount 0', async () => {
    const pool = createFakeNotePool();
    pool.fund([
      { holder: anna, amount: 0n },
      { holder: anna, amount: 1n },
    ]);
    expect(await open(pool).read()).toEqual([1n, 1, 1n]);
  });

  it('finds a note that was delivered after its batch', async () => {
    const pool = createFakeNotePool();
    pool.fundUndelivered([{ holder: anna, amount: 5n }]);
    const { read } = open(pool);
    expect(await read()).toEqual([0n, 0, 0n]);
    pool.deliver();
    expect(await read()).toEqual([5n, 1, 5n]);
  });
});

describe('a platform that lies', () => {
  it.each<[string, (pool: FakeNotePool) => void]>([
    [
      'a note that is not on the chain',
      (pool) => {
        const [note] = pool.listing;
        const other = createFakeNotePool();
        other.mine(1);
        other.fund([{ holder: anna, amount: 1_000n, nonce: assertField(5n) }]);
        pool.listing.push({ ...note, ...other.listing[0]!, batchIndex: 0, slot: 3 });
      },
    ],
    [
      'a note twice, in another slot',
      (pool) => {
        pool.listing.push({ ...pool.listing[0]!, slot: 2 });
      },
    ],
    [
      'a commitment with a sealed note that belongs to another',
      (pool) => {
        const [first, second] = pool.listing;
        pool.listing.push({ ...second!, slot: 2, sealed: first!.sealed });
      },
    ],
    [
      'a slot that the batch does not have',
      (pool) => {
        pool.listing.push({ ...pool.listing[0]!, slot: 4 });
      },
    ],
    [
      'a batch that is not final',
      (pool) => {
        pool.listing.push({ ...pool.listing[0]!, batchIndex: 7 });
      },
    ],
  ])('adds nothing with %s', async (_, lie) => {
    const pool = createFakeNotePool();
    pool.fund([
      { holder: anna, amount: 5n },
      { holder: anna, amount: 6n },
    ]);
    lie(pool);
    expect(await open(pool).read()).toEqual([11n, 2, 6n]);
  });

  it.each<[string, (pool: FakeNotePool) => void]>([
    ['notes out of order', (pool) => void pool.listing.reverse()],
    [
      'pages that lead nowhere',
      (pool) => {
        pool.deliveries.fetchPage = async () => ({ notes: [], cursor: '0.0' });
      },
    ],
    [
      'one page for ever',
      (pool) => {
        const notes = pool.listing.slice(0, 1);
        pool.deliveries.fetchPage = async () => ({ notes, cursor: '0.0' });
      },
    ],
  ])('is refused for %s', async (_, lie) => {
    const pool = createFakeNotePool();
    pool.fund([
      { holder: anna, amount: 5n },
      { holder: anna, amount: 6n },
    ]);
    lie(pool);
    await expect(open(pool).read()).rejects.toMatchObject({ code: 'platform_invalid_response' });
  });

  it('hides notes until it lists them', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const hidden = pool.listing.splice(0);
    const { read } = open(pool);
    expect(await read()).toEqual([0n, 0, 0n]);
    pool.listing.push(...hidden);
    expect(await read()).toEqual([5n, 1, 5n]);
  });
});

describe('an RPC', () => {
  it('that limits the range gets smaller windows', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 5n }]);
    pool.mine(4_000);
    pool.failures = 2;
    expect(await open(pool).read()).toEqual([5n, 1, 5n]);
  });

  it('that is down ends the sync as retryable, and what was read is kept', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 5n }]);
    pool.failures = 100;
    const { read } = open(pool);
    await expect(read()).rejects.toMatchObject({ code: 'chain_unreachable', retryable: true });
    pool.failures = 0;
    expect(await read()).toEqual([5n, 1, 5n]);
  });

  it.each<[string, FakeNotePool['tamper']]>([
    ['leaves a batch out', (found) => found.slice(1)],
    ['leaves the last batch out', (found) => found.slice(0, -1)],
    [
      'changes a batch root',
      (found) => found.map((leaf) => ({ ...leaf, root: assertField(leaf.root - 1n) })),
    ],
    [
      'changes the root that an event names',
      (found) => found.map((leaf) => ({ ...leaf, newRoot: assertField(leaf.newRoot - 1n) })),
    ],
  ])('that %s is noticed, and nothing of it is counted later', async (_, tamper) => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 5n }]);
    pool.fund([{ holder: anna, amount: 6n }]);
    const honest = pool.tamper;
    pool.tamper = tamper;
    const { read, store, archive } = open(pool);
    await expect(read()).rejects.toMatchObject({
      code: 'note_history_incomplete',
      retryable: true,
    });
    expect(store.leafCount).toBe(0);
    pool.tamper = honest;
    expect(await open(pool, store, archive).read()).toEqual([11n, 2, 6n]);
  });

  it('whose root is not the pool’s is noticed, and a scan that is under way adds nothing later', async () => {
    const pool = createFakeNotePool({ pageSize: 1 });
    pool.fund([{ holder: anna, amount: 5n }]);
    pool.fund([{ holder: anna, amount: 6n }]);
    const { fetchNoteRoot } = pool.history;
    const { fetchPage } = pool.deliveries;
    let hasFailed: () => void = () => undefined;
    const failed = new Promise<void>((resolve) => {
      hasFailed = resolve;
    });
    pool.history.fetchNoteRoot = async () => {
      hasFailed();
      return assertField(1n);
    };
    // The scan still has a page to read when the chain has failed.
    pool.deliveries.fetchPage = async (symbol, cursor) => {
      if (cursor !== undefined) {
        await failed;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return await fetchPage(symbol, cursor);
    };
    const { read, store, archive } = open(pool);
    let atRewind = -1;
    const { rewind } = store;
    store.rewind = (upTo) => {
      atRewind = store.readNotes().length;
      rewind(upTo);
    };
    await expect(read()).rejects.toMatchObject({ code: 'note_history_incomplete' });
    expect([store.leafCount, store.readNotes()]).toEqual([0, []]);
    // Nothing was written after it.
    expect(atRewind).toBe(2);
    pool.history.fetchNoteRoot = fetchNoteRoot;
    expect(await open(pool, store, archive).read()).toEqual([11n, 2, 6n]);
  });

  it('that replaces a final block is reported, and a rescan continues', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const { read, store, archive } = open(pool);
    await read();
    pool.replaced.add(pool.head());
    pool.mine(1);
    await expect(read()).rejects.toMatchObject({
      code: 'note_history_changed',
      message: expect.stringContaining('disburse-agent rescan'),
    });
    await rewindStore({ store, archive, history: pool.history }, undefined);
    expect(await open(pool, store, archive).read()).toEqual([5n, 1, 5n]);
  });

  it('that is behind changes nothing', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const { read } = open(pool);
    await read();
    pool.mine(-1);
    expect(await read()).toEqual([5n, 1, 5n]);
  });
});

describe('a rescan', () => {
  it.each([
    [undefined, [11n, 2, 6n]],
    [0, [11n, 2, 6n]],
    [12, [11n, 2, 6n]],
    [1_000_000, [11n, 2, 6n]],
  ])('from block %s gives the same balance', async (fromBlock, expected) => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 5n }]);
    pool.fund([{ holder: anna, amount: 6n }]);
    const { read, store, archive } = open(pool);
    await read();
    await rewindStore({ store, archive, history: pool.history }, fromBlock);
    expect(await open(pool, store, archive).read()).toEqual(expected);
  });
});

describe('a path', () => {
  it('leads from each note to the pool’s newest final root', async () => {
    const pool = createFakeNotePool();
    for (let batch = 0n; batch < 5n; batch += 1n) {
      pool.fund([
        { holder: ben, amount: 1n },
        { holder: anna, amount: batch + 1n },
      ]);
    }
    const { read, sync } = open(pool);
    await read();
    const notes = sync.listSpendable(pool.assetId);
    expect(notes).toHaveLength(5);
    for (const note of notes) {
      const { path, noteRoot, block } = await sync.computePath(note);
      expect(computeNoteRootFromPath(note.commitment, path)).toBe(noteRoot);
      expect(noteRoot).toBe(await pool.history.fetchNoteRoot(pool.head()));
      expect(block?.number).toBe(pool.head());
    }
  });

  it('is not known of a leaf that is not stored', async () => {
    const pool = createFakeNotePool();
    pool.fund([{ holder: anna, amount: 5n }]);
    const { read, sync } = open(pool);
    await read();
    const [note] = sync.listSpendable(pool.assetId);
    await expect(
      sync.computePath({ ...note!, leafIndex: 3, txHash: parseHex32(note!.txHash) }),
    ).rejects.toMatchObject({ code: 'unknown_leaf' });
  });
});
