import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openPrivateDatabase } from './private-database.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'pool-private-'));
});
afterEach(() => rmSync(home, { recursive: true }));

describe('a database of the agent directory on a full disk', () => {
  it.each(['alone', 'in a transaction'])('names its file after a write %s', (way) => {
    const path = join(home, 'private.sqlite');
    const { database, inTransaction } = openPrivateDatabase(path, 'CREATE TABLE t (v TEXT) STRICT');
    const insert = database.prepare('INSERT INTO t VALUES (?)');
    const write = (text: string): unknown =>
      way === 'alone' ? insert.run(text) : inTransaction(() => insert.run(text));
    write('kept');
    database.exec('PRAGMA max_page_count = 1');
    expect(() => write('x'.repeat(100_000))).toThrow(
      expect.objectContaining({
        code: 'disk_full',
        status: 503,
        retryable: true,
        message: expect.stringMatching(new RegExp(`^${path} .*disk is full .*KiB.*make room`)),
      }),
    );
    expect(database.isTransaction).toBe(false);
    expect(database.prepare('SELECT v FROM t').all()).toEqual([{ v: 'kept' }]);
    database.close();
  });
});

it('refuses a file of a later version, and leaves it as it is', () => {
  const path = join(home, 'later.sqlite');
  const later = new DatabaseSync(path);
  later.exec('CREATE TABLE t (other TEXT); PRAGMA user_version = 1');
  later.close();
  const before = readFileSync(path);
  expect(() => openPrivateDatabase(path, 'CREATE TABLE u (v TEXT) STRICT')).toThrow(
    expect.objectContaining({
      code: 'database_refused',
      message: `${path}: a later version of this program wrote it; run that version, or restore the backup from before the upgrade`,
    }),
  );
  expect(readFileSync(path)).toEqual(before);
});
