import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { createFakeHolder } from '@pool/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  cacheIdentity,
  cacheKey,
  makeLeaves,
  makeNotes,
  markOf,
  testAsset,
} from '../fixtures/note-rows.ts';
import { deriveNoteCacheKey } from './note-cache-mac.ts';
import { openNoteStore } from './note-store.ts';

function makePath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pool-notes-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'holder-notes.sqlite');
}

function open(path: string, changes: Partial<Parameters<typeof openNoteStore>[0]> = {}) {
  const discarded: string[] = [];
  const store = openNoteStore({
    path,
    key: cacheKey,
    identity: cacheIdentity,
    onDiscard: (reason) => discarded.push(reason),
    ...changes,
  });
  return { store, discarded };
}

/** Three writes: 9 leaves, 9 notes, 3 leaves. */
function fill(path: string): void {
  const { store } = open(path);
  store.appendLeaves(makeLeaves(0, 9), markOf(8));
  store.appendNotes(testAsset, makeNotes(0, 9), '8.0');
  store.appendLeaves(makeLeaves(9, 3), markOf(20));
  store.close();
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
    expect(store.readCursor(testAsset)).toBe('8.0');
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
    expect(store.readCursor(testAsset)).toBeUndefined();
    store.appendLeaves(makeLeaves(leaves, 2), markOf(30));
    store.close();
    expect(open(path).discarded).toEqual([]);
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

describe('a damaged note store', () => {
  it.each<[string, string]>([
    [
      'an edited amount',
      "UPDATE notes SET amount = x'000000000000000000000000000000ff' WHERE id = 3",
    ],
    ['an edited memo', "UPDATE notes SET memo = 'x' WHERE id = 1"],
    ['a memo that became absent', 'UPDATE notes SET memo = NULL WHERE id = 1'],
    ['a removed note', 'DELETE FROM notes WHERE id = 9'],
    [
      'a note that was copied',
      'INSERT INTO notes SELECT NULL, write, leaf_index, 1, block, commitment, asset_id, amount, nonce, memo, nullifier, tx_hash FROM notes WHERE id = 9',
    ],
    ['an edited commitment', 'UPDATE leaves SET commitments = nullifiers WHERE leaf_index = 2'],
    ['a spend that became a batch', "UPDATE leaves SET nullifiers = x'' WHERE leaf_index = 5"],
    ['a removed leaf', 'DELETE FROM leaves WHERE leaf_index = 11'],
    ['an edited root', 'UPDATE leaves SET root = new_root WHERE leaf_index = 0'],
    ['leaves in another write', 'UPDATE leaves SET write = 7 WHERE leaf_index > 8'],
    ['an edited cursor', "UPDATE checkpoint SET fields = replace(fields, '8.0', '9.0')"],
    [
      'an edited block',
      `UPDATE checkpoint SET fields = replace(fields, '"number":20', '"number":99')`,
    ],
    ['a removed checkpoint', 'DELETE FROM checkpoint'],
    ['a checkpoint with other bytes', "UPDATE checkpoint SET note_chain = x'00'"],
    ['a missing table', 'DROP TABLE notes'],
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
  const writer = fileURLToPath(new URL('../fixtures/note-writer.ts', import.meta.url));

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
      // Notes are the write after their leaves.
      const notes = store.readNotes();
      expect([leafCount, leafCount - 40]).toContain(notes.length);
      expect(notes).toEqual(makeNotes(0, notes.length));
      expect(store.block).toEqual(markOf(leafCount - 1));
      if (notes.length < leafCount) {
        store.appendNotes(testAsset, makeNotes(notes.length, 40), `${notes.length}.0`);
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
