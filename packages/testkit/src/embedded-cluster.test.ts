// Copies of the empty cluster are independent, and never overwrite an existing database.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEmptyCluster, placeEmptyCluster } from './embedded-cluster.ts';

describe('an empty cluster', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'pool-cluster-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));
  const listTables = async (database: PGlite): Promise<unknown[]> => {
    const text = "select tablename from pg_tables where schemaname = 'public'";
    return (await database.query(text)).rows;
  };

  it('is copied to a data directory that only its owner can read, and keeps later writes', async () => {
    const data = join(directory, 'data');
    await placeEmptyCluster(data);
    expect(statSync(data).mode & 0o777).toBe(0o700);
    const first = await PGlite.create(join(data, 'database'));
    expect(await listTables(first)).toEqual([]);
    await first.exec('create table t (n integer)');
    await first.close();
    const again = await PGlite.create(join(data, 'database'));
    expect(await listTables(again)).toEqual([{ tablename: 't' }]);
    await again.close();
    const other = join(directory, 'other');
    await placeEmptyCluster(other);
    const untouched = await PGlite.create(join(other, 'database'));
    expect(await listTables(untouched)).toEqual([]);
    await untouched.close();
  });

  it('does not overwrite an existing database', async () => {
    await placeEmptyCluster(directory);
    await expect(placeEmptyCluster(directory)).rejects.toThrow();
  });

  it('opens in memory as a new cluster each time', async () => {
    const first = await openEmptyCluster();
    await first.exec('create table t (n integer)');
    const second = await openEmptyCluster();
    expect(await listTables(second)).toEqual([]);
    await Promise.all([first.close(), second.close()]);
  });
});
