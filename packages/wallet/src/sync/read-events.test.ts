// Notes of spends come from the events of the pool. The platform of these tests lists no note.
import { bigintToHex32, parseField } from '@pool/core';
import { createNoteScanner, type NoteScanner } from '@pool/notes';
import { createFakeNotePool, type FakeNotePool } from '@pool/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anna, ben, openSync } from '../fixtures/open-sync.ts';
import {
  createMemoryNoteArchive,
  createMemoryNoteStore,
  type MemoryNoteArchive,
  type MemoryNoteStore,
} from '../note-files/memory-note-store.ts';
import { rewindStore } from './holder-sync.ts';

let kernels: NoteScanner;
beforeAll(async () => {
  kernels = await createNoteScanner({ threads: 1 });
});
afterAll(() => kernels.close());

const foreign = parseField(bigintToHex32(123n));

/** A pool whose platform hides everything. */
function createHidingPool(): FakeNotePool {
  const pool = createFakeNotePool();
  pool.deliveries.fetchPage = async () => ({ notes: [] });
  return pool;
}

function open(pool: FakeNotePool, store?: MemoryNoteStore, archive?: MemoryNoteArchive) {
  return openSync(kernels, pool, store, archive);
}

describe('the event of a spend', () => {
  it('gives a payee its note, and nobody else', async () => {
    const pool = createHidingPool();
    pool.fund([{ holder: anna, amount: 9n }]);
    pool.spend(
      [foreign],
      [
        { holder: ben, amount: 50n },
        { holder: anna, amount: 7n, memo: 'rent' },
        { holder: anna, amount: 0n },
      ],
    );
    const { read, archive, sync } = open(pool);
    expect(await read()).toEqual([7n, 1, 7n]);
    expect(archive.records.map(({ leafIndex, slot }) => [leafIndex, slot])).toEqual([[1, 1]]);
    expect(sync.listSpendable(pool.assetId)[0]?.memo).toBe('rent');
  });

  it('is read once: neither a second sync, nor a restart, nor a rescan archives the note again', async () => {
    const pool = createHidingPool();
    pool.spend([foreign], [{ holder: anna, amount: 7n }]);
    const { read, store, archive } = open(pool);
    await read();
    await read();
    expect(await open(pool, store, archive).read()).toEqual([7n, 1, 7n]);
    await rewindStore({ store, archive, history: pool.history }, undefined);
    expect(await open(pool, store, archive).read()).toEqual([7n, 1, 7n]);
    expect(archive.records).toHaveLength(1);
  });

  it('and the platform may list the same note: it is archived once', async () => {
    const pool = createFakeNotePool();
    pool.spend([foreign], [{ holder: anna, amount: 7n }]);
    const { read, archive } = open(pool);
    expect(await read()).toEqual([7n, 1, 7n]);
    expect(await read()).toEqual([7n, 1, 7n]);
    expect(archive.records).toHaveLength(1);
  });

  it('is not lost if the process ends before the leaf is stored', async () => {
    const pool = createHidingPool();
    pool.spend([foreign], [{ holder: anna, amount: 7n }]);
    const store = createMemoryNoteStore();
    const archive = createMemoryNoteArchive();
    const { appendLeaves } = store;
    store.appendLeaves = () => {
      throw new Error('killed');
    };
    await expect(open(pool, store, archive).read()).rejects.toThrow('killed');
    store.appendLeaves = appendLeaves;
    expect(await open(pool, store, archive).read()).toEqual([7n, 1, 7n]);
    expect(archive.records).toHaveLength(1);
  });

  it('is not lost if the archive cannot be written: the leaves are read again', async () => {
    const pool = createHidingPool();
    pool.spend([foreign], [{ holder: anna, amount: 7n }]);
    const opened = open(pool);
    const { append } = opened.archive;
    opened.archive.append = () => {
      throw new Error('disk full');
    };
    await expect(opened.read()).rejects.toThrow('disk full');
    opened.archive.append = append;
    expect(await opened.read()).toEqual([7n, 1, 7n]);
  });

  it('with a changed commitment is refused, and read again from an honest node', async () => {
    const pool = createHidingPool();
    pool.spend([foreign], [{ holder: anna, amount: 7n }]);
    const opened = open(pool);
    pool.tamper = (leaves) =>
      leaves.map((leaf) => ({
        ...leaf,
        commitments: [bigintToHex32(5n), ...leaf.commitments.slice(1)],
      }));
    await expect(opened.read()).rejects.toMatchObject({ code: 'note_history_incomplete' });
    pool.tamper = (leaves) => leaves;
    expect(await opened.read()).toEqual([7n, 1, 7n]);
  });
});
