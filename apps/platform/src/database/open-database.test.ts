import fs from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEvmAddress } from '@pool/core';
import { lockDirectory, type Migration, openDatabase } from '@pool/database';
import { placeEmptyCluster } from '@pool/testkit';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PlatformTables } from '../../../../packages/database/src/platform-tables.ts';
import { platformMigrations } from '../../../../packages/database/src/platform-tables.ts';
import { openMemoryDatabase } from '../../../../packages/database/test/test-store.ts';
import { getEmployer } from '../employers/employers.ts';

const employerAddress = parseEvmAddress('0x00000000000000000000000000000000000000e1');

describe('openDatabase', () => {
  let directory: string;
  beforeEach(async () => {
    directory = join(await mkdtemp(join(tmpdir(), 'pool-db-')), 'data');
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const first: Migration = { number: 1, statements: ['create table t (n integer)'] };
  const second: Migration = { number: 2, statements: ['alter table t add column m integer'] };
  const broken: Migration = {
    number: 3,
    statements: ['alter table t add column k integer', 'alter table missing add column k integer'],
  };

  it('applies each migration once, continues after the last one, and rolls back a migration that fails', async () => {
    await placeEmptyCluster(directory);
    const fresh = await openDatabase<{ t: { n: number } }>(directory, [first]);
    await fresh.db.insertInto('t').values({ n: 7 }).execute();
    await fresh.close();
    await expect(openDatabase(directory, [first, second, broken])).rejects.toThrow();
    const again = await openDatabase<{ t: { n: number } }>(directory, [first, second]);
    const columns = await sql<{ name: string }>`select column_name as name
      from information_schema.columns where table_name = 't' order by 1`.execute(again.db);
    expect(columns.rows.map(({ name }) => name)).toEqual(['m', 'n']);
    expect(await again.db.selectFrom('t').select('n').execute()).toEqual([{ n: 7 }]);
    await again.close();
  });

  // Why it is refused in production (docs/decisions/0010). Should a later PGlite sync, this test says so.
  it('never waits for the disk, so a power cut can lose acknowledged data', async () => {
    const calls: string[] = [];
    const spies = (['fsyncSync', 'fdatasyncSync', 'fsync', 'fdatasync'] as const).map((name) =>
      vi.spyOn(fs, name).mockImplementation(() => {
        calls.push(name);
      }),
    );
    const writes = vi.spyOn(fs, 'writeSync');
    const database = await openDatabase<{ t: { n: number } }>(directory, [first]);
    await database.db.insertInto('t').values({ n: 7 }).execute();
    await sql`checkpoint`.execute(database.db);
    const settings = await sql`show fsync`.execute(database.db);
    await database.close();
    expect(writes).toHaveBeenCalled();
    expect([calls, settings.rows]).toEqual([[], [{ fsync: 'off' }]]);
    for (const spy of [...spies, writes]) {
      spy.mockRestore();
    }
  });

  it('locks its directory until the lock is released, with rights for its owner only', () => {
    const lock = lockDirectory(directory);
    expect(() => lockDirectory(directory)).toThrow(
      expect.objectContaining({ code: 'data_directory_locked' }),
    );
    lock.release();
    lock.release();
    lockDirectory(directory).release();
    return stat(directory).then(({ mode }) => expect(mode & 0o777).toBe(0o700));
  });

  it('removes the rights of other users on an existing directory', async () => {
    await mkdir(directory);
    await chmod(directory, 0o755);
    lockDirectory(directory).release();
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
  });
});

describe('the platform’s tables', () => {
  let database: Awaited<ReturnType<typeof openDatabase<PlatformTables>>>;
  beforeAll(async () => {
    database = await openMemoryDatabase<PlatformTables>(platformMigrations);
  });
  afterAll(() => database.close());

  it.each([
    [
      'a session of neither a key nor a contract',
      'sessions',
      "('1', '0xA', null, 'm', '0x', 't', null)",
    ],
    ['a session of both', 'sessions', "('1', '0xA', '0x02', 'm', '0x', 't', 1)"],
    [
      'an unknown capability',
      'credentials (employer_id, public_id, secret_hash, capability, name, created_at, issued_by)',
      "('e', 'p', 's', 'holder', 'n', 't', 'session')",
    ],
    [
      'an API key of the operator, who makes edge tokens only',
      'credentials (employer_id, public_id, secret_hash, capability, name, created_at, issued_by)',
      "('e', 'p', 's', 'disburse', 'n', 't', 'operator')",
    ],
    [
      'an unknown state',
      'subjects',
      "('0xA', '0x02', '0x01', '0xp', 'm', '0x', 'not_enrolled', null, 't')",
    ],
    [
      'a time of confirmation for a wallet that is not ready',
      'subjects',
      "('0xA', '0x02', '0x01', '0xp', 'm', '0x', 'eligibility_pending', 't', 't')",
    ],
  ])('refuse %s', async (_name, table, values) => {
    await sql`insert into employers (id, address, created_at) values ('e', '0xE', 't')
      on conflict do nothing`.execute(database.db);
    await expect(
      sql.raw(`insert into ${table} values ${values}`).execute(database.db),
    ).rejects.toThrow(/violates check constraint/);
  });

  it('distinguish two funders of one batch nonce by the batch id', async () => {
    const { db } = database;
    await sql`insert into employers (id, address, created_at) values ('e', '0xE', 't')
      on conflict do nothing`.execute(db);
    for (const key of ['0x0a', '0x0b']) {
      await sql`insert into submissions (kind, owner, key, chain, root, sealed_notes_hash,
          token, deadline, request, state, created_at, batch_id)
        values ('settlement', 'e', ${key}, 'anvil', '0x02', '0x03', '0xT', 9, '{}', 'settled', 't', ${key})`.execute(
        db,
      );
    }
    const again = sql`update submissions set batch_id = '0x0a' where batch_id = '0x0b'`.execute(db);
    await expect(again).rejects.toThrow('submissions_batch');
  });

  it('hold the accounts of 64-bit chains', async () => {
    const row = { id: 'big', address: employerAddress, name: null, created_at: 't' };
    const chainId = 2 ** 53 - 1;
    await database.db
      .insertInto('employers')
      .values({ ...row, contract_chain_id: chainId })
      .execute();
    const employer = await getEmployer(database.db, {
      address: employerAddress,
      contractChainId: chainId,
    });
    expect(employer).toEqual({ id: 'big', address: employerAddress });
  });
});
