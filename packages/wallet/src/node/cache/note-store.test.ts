import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { bigintToHex32, zeroField } from '@pool/core';
import { createFakeHolder } from '@pool/testkit';
import { describe, expect, it } from 'vitest';
import { fill, makePath, open } from '../../fixtures/note-cache.ts';
import {
  cacheIdentity,
  cacheKey,
  makeLeaves,
  makeNotes,
  makeReceived,
  markOf,
  testAsset,
} from '../../fixtures/note-rows.ts';
import { openNoteArchive } from './note-archive.ts';
import {
  appendPages,
  type CheckpointFields,
  deriveNoteCacheKey,
  signCheckpoint,
} from './note-cache-file.ts';
import { encodeLeaf, packLeaves } from './note-cache-pages.ts';

/** SQL that changes one byte of the first page of leaves. */
function flipByte(at: number): string {
  const byte = `substr(body, ${at + 1}, 1)`;
  const other = `CASE ${byte} WHEN x'5a' THEN x'a5' ELSE x'5a' END`;
  return `UPDATE leaf_pages SET body = CAST(substr(body, 1, ${at}) || ${other} || substr(body, ${at + 2}) AS BLOB) WHERE id = 0`;
}

/** SQL that changes the text of the notes. */
function editNotes(from: string, to: string): string {
  return `UPDATE note_pages SET body = replace(body, '${from}', '${to}')`;
}

/**
 * Writes the cache again with another commitment in a leaf, all of it authentic: as a store did that took notes of leaves that were
 * replaced meanwhile.
 */
function replaceLeaves(path: string, changed: number): void {
  const database = new DatabaseSync(path);
  const row = database.prepare('SELECT fields FROM checkpoint').get() ?? {};
  const fields = JSON.parse(String(row['fields'])) as CheckpointFields;
  const leaves = makeLeaves(0, 12).map((leaf) =>
    leaf.leafIndex === changed
      ? { ...leaf, commitments: leaf.commitments.map(() => bigintToHex32(5n)) }
      : leaf,
  );
  database.exec('DELETE FROM leaf_pages');
  const pages = packLeaves(0, leaves.map(encodeLeaf));
  const chain = appendPages(database, cacheKey, 'leaf_pages', '', pages);
  const signed = { ...fields, chains: { ...fields.chains, leaf_pages: chain } };
  const { mac } = signCheckpoint(cacheKey, signed);
  database.prepare('UPDATE checkpoint SET fields = ?, mac = ?').run(JSON.stringify(signed), mac);
  database.close();
}

function edit(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

describe('the note store', () => {
  it('returns what was written, after it is opened again', () => {
    const path = makePath();
    fill(path);
    const { store, discarded } = open(path);
    expect(discarded).toEqual([]);
    expect(store.leafCount).toBe(12);
    expect(store.block).toEqual(markOf(20));
    expect(store.readNotes()).toEqual(makeNotes(0, 9));
    expect(store.readPlace(testAsset)).toEqual({ cursor: '8.0', notes: 9 });
    expect([...store.listReceived()]).toEqual(
      makeReceived(0, 9).map(
        ({ amount: _a, nonce: _n, nullifier: _f, memo: _m, blockNumber: _b, ...note }) => note,
      ),
    );
    const leaves = makeLeaves(0, 12);
    expect(store.readRoots()).toEqual(leaves.map(({ root }) => root));
    expect(store.readLastRoot()).toBe(leaves.at(-1)?.newRoot);
    expect(Buffer.from(store.readLeaf(5)?.commitments ?? []).toString('hex')).toBe(
      leaves[5]?.commitments.map((word) => word.slice(2)).join(''),
    );
    expect(store.readLeaf(12)).toBeUndefined();
    expect([...store.listSpends(3)].map(({ leafIndex }) => leafIndex)).toEqual([5, 8, 11]);
    store.close();
  });

  it('is readable by its owner only', () => {
    const path = makePath();
    fill(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['everything', undefined, 0, 0],
    ['the leaves after a block', markOf(4), 5, 5],
    ['nothing of the chain', markOf(20), 12, 9],
  ])('rewinds %s, and the rest stays authentic', (_, mark, leaves, notes) => {
    const path = makePath();
    fill(path);
    const first = open(path).store;
    first.rewind(mark);
    first.close();
    const { store, discarded } = open(path);
    expect(discarded).toEqual([]);
    expect([store.leafCount, store.readNotes().length, store.block]).toEqual([leaves, notes, mark]);
    expect(store.readPlace(testAsset)).toBeUndefined();
    store.appendLeaves(makeLeaves(leaves, 2), markOf(30));
    store.close();
    expect(open(path).discarded).toEqual([]);
  });

  it('does not sign what was edited while the file was open', () => {
    const path = makePath();
    fill(path);
    const { store } = open(path);
    edit(path, editNotes('"slot":0', '"slot":1'));
    expect(() => store.rewind(markOf(8))).toThrow(
      expect.objectContaining({ code: 'note_cache_changed' }),
    );
    store.close();
    expect(open(path).discarded).toHaveLength(1);
  });

  it('refuses notes of leaves that were discarded while they were scanned', () => {
    const path = makePath();
    fill(path);
    const { store } = open(path);
    const notes = makeReceived(0, 9);
    store.rewind(undefined);
    expect(() => store.appendNotes(notes, {})).toThrow(
      expect.objectContaining({ code: 'note_history_incomplete' }),
    );
    expect(store.readNotes()).toEqual([]);
    store.close();
  });

  it('refuses to write over another process', () => {
    const path = makePath();
    fill(path);
    const one = open(path).store;
    const two = open(path).store;
    one.appendLeaves(makeLeaves(12, 1), markOf(21));
    expect(() => two.appendLeaves(makeLeaves(12, 1), markOf(21))).toThrow(
      expect.objectContaining({ code: 'note_cache_changed', retryable: true }),
    );
    one.close();
    two.close();
    expect(open(path).store.leafCount).toBe(13);
  });

  it('refuses notes that are not those of their leaves', () => {
    const path = makePath();
    fill(path);
    const { store } = open(path);
    const [note] = makeReceived(9, 1);
    const { commitment: other } = makeReceived(10, 1)[0]!;
    for (const wrong of [
      { ...note!, commitment: other },
      { ...note!, slot: 1 },
      { ...note!, leafIndex: 10 },
      { ...note!, slot: 99 },
    ]) {
      expect(() => store.appendNotes([wrong], {})).toThrow(
        expect.objectContaining({ code: 'note_history_incomplete', retryable: true }),
      );
    }
    store.appendNotes([note!], {});
    expect(store.readNotes()).toHaveLength(10);
    store.close();
  });

  it('drops notes whose leaf has another commitment when it is opened, and reads everything again', () => {
    const path = makePath();
    fill(path);
    replaceLeaves(path, 4);
    const { store, discarded } = open(path);
    expect(discarded).toEqual([]);
    expect(store.readNotes()).toEqual(makeNotes(0, 9).filter(({ leafIndex }) => leafIndex !== 4));
    expect(store.readPlace(testAsset)).toBeUndefined();
    expect(store.archived).toEqual({ end: 0, waitingFrom: undefined, leafCount: 0 });
    store.close();
    const again = open(path);
    expect([again.discarded, again.store.readNotes().length]).toEqual([[], 8]);
    again.store.close();
  });

  it('writes as many notes into one page after a rewind as before, and appends to them', () => {
    const path = makePath();
    const { store } = open(path);
    store.appendLeaves(makeLeaves(0, 5_000), markOf(4_999));
    store.appendNotes(makeReceived(0, 2_500), {});
    store.appendNotes(makeReceived(2_500, 2_498), {});
    store.rewind(markOf(4_998));
    store.appendNotes(makeReceived(4_998, 1), {});
    const database = new DatabaseSync(path, { readOnly: true });
    const pages = database.prepare('SELECT body FROM note_pages ORDER BY id').all();
    const counts = pages.map(({ body }) => (JSON.parse(String(body)) as readonly unknown[]).length);
    database.close();
    expect(counts).toEqual([4_096, 902, 1]);
    store.close();
    const reopened = open(path);
    expect([reopened.discarded, reopened.store.readNotes()]).toEqual([[], makeNotes(0, 4_999)]);
    reopened.store.close();
  });

  it('drops such notes at a rewind too', () => {
    const path = makePath();
    fill(path);
    const { store } = open(path);
    store.close();
    replaceLeaves(path, 4);
    const reopened = open(path).store;
    reopened.rewind(markOf(6));
    expect(reopened.readNotes()).toEqual(
      makeNotes(0, 7).filter(({ leafIndex }) => leafIndex !== 4),
    );
    reopened.close();
  });

  it('finds the places of commitments', () => {
    const path = makePath();
    fill(path);
    const { store } = open(path);
    const wanted = makeNotes(0, 12).map(({ commitment }) => commitment);
    const found = store.findPlaces(new Set([...wanted.slice(3, 5), wanted[11]!, zeroField]), 4);
    expect([...found]).toEqual([
      [wanted[4], expect.objectContaining({ leafIndex: 4, slot: 0, blockNumber: 4 })],
      [wanted[11], expect.objectContaining({ leafIndex: 11, slot: 0, blockNumber: 11 })],
    ]);
    store.close();
  });

  it('reads leaves of every size across its pages', () => {
    const path = makePath();
    const { store } = open(path);
    const large = makeLeaves(0, 200).map((leaf, place) => ({
      ...leaf,
      commitments: Array.from({ length: place % 7 === 0 ? 2_048 : 16 }, (_, slot) =>
        bigintToHex32(BigInt(place * 10_000 + slot)),
      ),
    }));
    store.appendLeaves(large, markOf(199));
    store.close();
    const reopened = open(path).store;
    for (const { leafIndex, commitments } of large.toReversed()) {
      expect(Buffer.from(reopened.readLeaf(leafIndex)?.commitments ?? []).toString('hex')).toBe(
        commitments.map((word) => word.slice(2)).join(''),
      );
    }
    reopened.rewind(markOf(120));
    reopened.close();
    const { store: cut, discarded } = open(path);
    expect([discarded, cut.leafCount]).toEqual([[], 121]);
    expect(cut.readRoots()).toEqual(large.slice(0, 121).map(({ root }) => root));
    cut.close();
  });

  it('refuses a directory that cannot be written, and names it', () => {
    const path = join(makePath(), 'missing', 'notes.sqlite');
    expect(() => open(path)).toThrow(
      expect.objectContaining({
        code: 'note_cache_unavailable',
        message: expect.stringContaining(path),
      }),
    );
  });
});

it('refuses a note store of a later version, and does not discard it', () => {
  const path = makePath();
  fill(path);
  edit(path, 'PRAGMA user_version = 1');
  expect(() => open(path)).toThrow(expect.objectContaining({ code: 'database_refused' }));
  edit(path, 'PRAGMA user_version = 0');
  expect(open(path).discarded).toEqual([]);
});

describe('a damaged note store', () => {
  it.each<[string, string]>([
    ['an edited amount', editNotes('"amount":"0x1"', '"amount":"0xa"')],
    ['an edited memo', editNotes('"memo 0"', '"memo 9"')],
    ['a memo that became absent', editNotes('"memo":"memo 0",', '')],
    ['an edited sealed note', editNotes('"sealed":"0x00', '"sealed":"0x01')],
    ['removed notes', 'DELETE FROM note_pages'],
    ['notes that were copied', 'INSERT INTO note_pages SELECT 9, body FROM note_pages'],
    ['notes under another number', 'UPDATE note_pages SET id = 4'],
    ['an edited commitment', flipByte(110)],
    ['a spend that became a batch', flipByte(2 * (110 + 4 * 32) + 13)],
    ['removed leaves', 'DELETE FROM leaf_pages WHERE id = 9'],
    ['an edited root', flipByte(14)],
    ['leaves at another place', 'UPDATE leaf_pages SET id = 10 WHERE id = 9'],
    ['an edited cursor', "UPDATE checkpoint SET fields = replace(fields, '8.0', '9.0')"],
    [
      'an edited block',
      `UPDATE checkpoint SET fields = replace(fields, '"number":20', '"number":99')`,
    ],
    ['a removed checkpoint', 'DELETE FROM checkpoint'],
    [
      'a checkpoint with other bytes',
      'UPDATE checkpoint SET fields = replace(fields, \'"note_pages":"\', \'"note_pages":"0\')',
    ],
    ['a missing table', 'DROP TABLE note_pages'],
    ['a table of another version', 'ALTER TABLE note_pages ADD COLUMN memo TEXT'],
    ['a body of another type', 'DROP TABLE checkpoint; CREATE TABLE checkpoint (id, fields)'],
  ])('is discarded for %s, with a reason', (_, sql) => {
    const path = makePath();
    fill(path);
    edit(path, sql);
    const { store, discarded } = open(path);
    expect(discarded).toHaveLength(1);
    expect([store.leafCount, store.readNotes(), store.block]).toEqual([0, [], undefined]);
    store.appendLeaves(makeLeaves(0, 1), markOf(0));
    store.close();
    expect(open(path).discarded).toEqual([]);
  });

  it.each<[string, (path: string) => void]>([
    ['it is truncated', (path) => truncateSync(path, Math.floor(statSync(path).size / 2))],
    ['it is empty of pages', (path) => truncateSync(path, 100)],
    ['it is no database', (path) => writeFileSync(path, 'x'.repeat(8_192))],
  ])('is discarded if %s', (_, damage) => {
    const path = makePath();
    fill(path);
    damage(path);
    const { store, discarded } = open(path);
    expect(discarded).toHaveLength(1);
    expect(store.leafCount).toBe(0);
  });

  it('never gives another note than was written, whichever byte is flipped', () => {
    const path = makePath();
    fill(path);
    const whole = readFileSync(path);
    let noticed = 0;
    // Every page, at places that differ between pages.
    for (let place = 100; place < whole.length; place += 211) {
      const bytes = Buffer.from(whole);
      bytes[place] = (bytes[place] ?? 0) ^ 0x5a;
      writeFileSync(path, bytes);
      for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
      const { store, discarded } = open(path);
      noticed += discarded.length;
      if (discarded.length === 0) {
        // A byte that SQLite does not use.
        expect(store.readNotes()).toEqual(makeNotes(0, 9));
        expect(store.leafCount).toBe(12);
      }
      store.close();
    }
    expect(noticed).toBeGreaterThan(10);
  });

  it('belongs to another viewing key or another pool', () => {
    const path = makePath();
    fill(path);
    const key = deriveNoteCacheKey(createFakeHolder(2).viewingKey);
    expect(open(path, { key }).discarded).toHaveLength(1);
    fill(path);
    const identity = { ...cacheIdentity, chainId: 1 };
    expect(open(path, { identity }).discarded).toHaveLength(1);
  });
});

describe('a process that is killed while it writes', () => {
  const writer = fileURLToPath(new URL('../../fixtures/note-writer.ts', import.meta.url));

  it('leaves a store with whole writes only', { timeout: 120_000 }, async () => {
    const path = makePath();
    let before = 0;
    for (const delayMs of [0, 3, 7, 13, 29, 47]) {
      const child = spawn(
        process.execPath,
        ['--conditions=@pool/source', '--disable-warning=ExperimentalWarning', writer, path],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      await once(child.stdout, 'data');
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      child.kill('SIGKILL');
      await once(child, 'exit');
      const { store, discarded } = open(path);
      expect(discarded).toEqual([]);
      const { leafCount } = store;
      expect(leafCount).toBeGreaterThan(before);
      expect(leafCount % 40).toBe(0);
      // Notes are the write after their leaves, and in the archive before.
      const notes = store.readNotes();
      const archived = [...openNoteArchive(`${path}.archive`).read(0)].map(({ note }) => note);
      expect(archived.slice(0, notes.length)).toEqual([...store.listReceived()]);
      expect(archived.length).toBeLessThanOrEqual(leafCount);
      expect([leafCount, leafCount - 40]).toContain(notes.length);
      expect(notes).toEqual(makeNotes(0, notes.length));
      expect(store.block).toEqual(markOf(leafCount - 1));
      if (notes.length < leafCount) {
        const missing = makeReceived(notes.length, 40);
        openNoteArchive(`${path}.archive`).append(missing.slice(archived.length - notes.length));
        store.appendNotes(missing, {});
      }
      store.close();
      before = leafCount;
    }
    expect(existsSync(path)).toBe(true);
    expect(readdirSync(join(path, '..')).every((name) => name.startsWith('holder-notes'))).toBe(
      true,
    );
  });
});
