import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { fill, makePath, open } from '../../fixtures/note-cache.ts';
import { makeLeaves, markOf } from '../../fixtures/note-rows.ts';
import { explainNoteFile, isDamage } from './note-cache-errors.ts';

describe('a note store that cannot be used now', () => {
  function failWith(path: string, advice: string, act: () => unknown = () => open(path)): void {
    const before = readFileSync(path);
    expect(act).toThrow(
      expect.objectContaining({
        code: 'note_cache_unavailable',
        message: expect.stringMatching(new RegExp(`${path}.*${advice}`)),
      }),
    );
    expect(readFileSync(path).equals(before)).toBe(true);
  }

  it('is kept while another process locks it, and the message says so', () => {
    const path = makePath();
    fill(path);
    const other = new DatabaseSync(path);
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    failWith(path, 'another process uses it');
    other.close();
    const { store, discarded } = open(path);
    expect([discarded, store.leafCount]).toEqual([[], 12]);
    store.close();
  });

  it('is kept if a write finds it locked', () => {
    const path = makePath();
    fill(path);
    const { store } = open(path);
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    expect(() => store.appendLeaves(makeLeaves(12, 1), markOf(21))).toThrow(
      expect.objectContaining({ code: 'note_cache_unavailable' }),
    );
    other.close();
    store.appendLeaves(makeLeaves(12, 1), markOf(21));
    store.close();
    expect(open(path).store.leafCount).toBe(13);
  });

  it.each([
    ['EACCES', 'readable and writable'],
    ['EMFILE', 'too many files'],
    ['EIO', 'check that the directory exists'],
  ])('explains %s', (code, advice) => {
    const cause = Object.assign(new Error(`${code}: refused`), { code });
    expect(isDamage(cause)).toBe(false);
    expect(explainNoteFile('/home/notes.sqlite', 'note cache', cause)).toMatchObject({
      code: 'note_cache_unavailable',
      message: expect.stringMatching(new RegExp(`/home/notes.sqlite.*${code}.*${advice}`)),
    });
  });

  it.each([
    ['SQLite', { errcode: 13 }],
    ['the system', { code: 'ENOSPC' }],
  ])('says in its own words that the disk is full, after an error of %s', (_, fields) => {
    const cause = Object.assign(new Error('database or disk is full'), fields);
    const path = makePath();
    const { code, message } = explainNoteFile(path, 'note cache', cause);
    expect(code).toBe('disk_full');
    expect(message.replace(/[0-9]+ KiB/, 'N KiB')).toBe(
      `${path} cannot be written: the disk is full (N KiB are free); make room on it, then try again`,
    );
  });

  it.each([
    [5, false],
    [10, false],
    [13, false],
    [14, false],
    [8, false],
    [11, true],
    [26, true],
    [11 + 256, true],
  ])('discards for the SQLite error %s: %s', (errcode, isDamaged) => {
    expect(isDamage(Object.assign(new Error('x'), { errcode }))).toBe(isDamaged);
  });
});
