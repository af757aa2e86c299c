import fs from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEvmAddress } from '@pool/core';
import { placeEmptyCluster } from '@pool/testkit';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { getEmployer } from '../accounts/employers.ts';
import { openMemoryDatabase } from '../fixtures/test-database.ts';
import { lockDirectory } from './directory-lock.ts';
import { type Migration, openDatabase } from './open-database.ts';
import { platformMigrations } from './platform-migrations.ts';
import type { PlatformTables } from './platform-tables.ts';

const employerAddress = parseEvmAddress('0x00000000000000000000000000000000000000e1');

/** A data directory with an initialised database that has no table. */
async function createEmptyData(): Promise<string> {
  const directory = join(await mkdtemp(join(tmpdir(), 'pool-db-')), 'data');
  await placeEmptyCluster(directory);
  return directory;
}

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

  // Why it is refused in production (docs/decisions/0028). Should a later PGlite sync, this test says so.
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

describe('platformMigrations', () => {
  it('keep the owner of each encryption key, also for wallets enrolled before owners were recorded', async () => {
    const directory = await createEmptyData();
    const before = await openDatabase<PlatformTables>(directory, platformMigrations.slice(0, 3));
    await sql`insert into subjects values
      ('0xA', '0x02', '0x01', '0xp', 'm', '0x', 'ready', null, '2026-11-21T10:00:00.000Z')`.execute(
      before.db,
    );
    await before.close();
    const after = await openDatabase<PlatformTables>(directory, platformMigrations);
    expect(await after.db.selectFrom('encryption_keys').selectAll().execute()).toEqual([
      { encryption_public_key: '0xp', address: '0xA', created_at: '2026-11-21T10:00:00.000Z' },
    ]);
    expect(await after.db.selectFrom('subjects').selectAll().executeTakeFirst()).toMatchObject({
      readiness: 'ready',
      gate_attempts: 0,
      gate_answered: 0,
    });
    await after.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('keep every row that earlier, less strict tables may contain', async () => {
    const directory = await createEmptyData();
    const before = await openDatabase<PlatformTables>(directory, platformMigrations.slice(0, 4));
    const states = ['ready', 'eligibility_pending', 'eligibility_failed', 'eligibility_disabled'];
    const time = '2026-11-21T10:00:00.000Z';
    await sql`insert into employers values ('e', ${employerAddress}, null, ${time})`.execute(
      before.db,
    );
    for (const [i, readiness] of states.entries()) {
      await sql`insert into subjects values (${`0x${i}`}, ${`W${i}`}, ${`id${i}`}, ${`P${i}`}, 'm', '0x',
        ${readiness}, ${time}, ${time})`.execute(before.db);
    }
    await sql`insert into sessions values ('h', '0x0', 'W0', 'm', '0x', ${time})`.execute(
      before.db,
    );
    await sql`insert into sign_in_nonces values ('n', ${time})`.execute(before.db);
    for (const capability of ['disburse', 'holder.read', 'holder.transfer', 'holder.send']) {
      await sql`insert into api_keys (employer_id, public_id, secret_hash, capability, name, created_at)
        values ('e', ${capability}, 's', ${capability}, 'n', ${time})`.execute(before.db);
    }
    await before.close();
    const after = await openDatabase<PlatformTables>(directory, platformMigrations);
    const subjects = await after.db
      .selectFrom('subjects')
      .select(['readiness', 'whitelisted_at'])
      .orderBy('address')
      .execute();
    expect(subjects.map((subject) => [subject.readiness, subject.whitelisted_at])).toEqual(
      states.map((readiness) => [readiness, readiness === 'ready' ? time : null]),
    );
    expect(await after.db.selectFrom('api_keys').selectAll().execute()).toHaveLength(4);
    expect(await after.db.selectFrom('sessions').selectAll().executeTakeFirst()).toMatchObject({
      wallet_pub: 'W0',
      contract_chain_id: null,
    });
    expect(await getEmployer(after.db, { address: employerAddress })).toEqual({
      id: 'e',
      address: employerAddress,
    });
    await after.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('identify earlier settlements and batches by their nonce, and distinguish two funders of one nonce', async () => {
    const directory = await createEmptyData();
    const upTo = (number: number) => platformMigrations.filter((one) => one.number <= number);
    const before = await openDatabase<PlatformTables>(directory, upTo(7));
    const insert = (db: typeof before.db, key: string, funder: string, id: string) =>
      sql`insert into settlements (employer_id, key, chain, batch_nonce, batch_root, sealed_notes_hash,
          funder, token, total, deadline, request, state, created_at ${sql.raw(id)})
        values ('e', ${key}, 'anvil', '0x01', '0x02', '0x03', ${funder}, '0xT', '1', 9, '{}', 'settled',
          't' ${sql.raw(id === '' ? '' : `, '${key}'`)})`.execute(db);
    await sql`insert into employers (id, address, created_at) values ('e', '0xE', 't')`.execute(
      before.db,
    );
    await insert(before.db, 'old', '0xF', '');
    await sql`insert into batches values ('anvil', 0, '0x02', '0x01', '0x03', '0x04', 5, 1)`.execute(
      before.db,
    );
    await before.close();
    const after = await openDatabase<PlatformTables>(directory, platformMigrations);
    const { db } = after;
    expect(await db.selectFrom('settlements').select('batch_id').execute()).toEqual([
      { batch_id: '0x01' },
    ]);
    expect(await db.selectFrom('batches').select('batch_id').execute()).toEqual([
      { batch_id: '0x01' },
    ]);
    await insert(db, '0x0a', '0xF', ', batch_id');
    await insert(db, '0x0b', '0xG', ', batch_id');
    const again = sql`update settlements set batch_id = '0x0a' where batch_id = '0x0b'`.execute(db);
    await expect(again).rejects.toThrow('settlements_batch');
    await after.close();
    await rm(directory, { recursive: true, force: true });
  });
});

describe('migration 21', () => {
  it('keeps the admission of wallets that the gate confirmed, and ends that of the others', async () => {
    const directory = await createEmptyData();
    const earlier = platformMigrations.filter(({ number }) => number <= 20);
    const before = await openDatabase<PlatformTables>(directory, earlier);
    const time = '2026-11-21T10:00:00.000Z';
    const states = ['ready', 'eligibility_failed', 'eligibility_pending', 'eligibility_disabled'];
    for (const [i, readiness] of states.entries()) {
      await sql`insert into subjects (address, wallet_pub, wallet_id, encryption_public_key, evidence_message,
          evidence_signature, readiness, whitelisted_at, created_at, admitted_at)
        values (${`0x${i}`}, ${`W${i}`}, ${`id${i}`}, ${`P${i}`}, 'm', '0x', ${readiness},
          ${readiness === 'ready' ? time : null}, ${time}, ${time})`.execute(before.db);
    }
    await before.close();
    const after = await openDatabase<PlatformTables>(directory, platformMigrations);
    const subjects = await after.db
      .selectFrom('subjects')
      .select(['readiness', 'admitted_at', 'claimed_at'])
      .orderBy('address')
      .execute();
    expect(subjects).toEqual(
      states.map((readiness) => ({
        readiness,
        admitted_at: readiness === 'ready' ? time : null,
        claimed_at: time,
      })),
    );
    await after.close();
    await rm(directory, { recursive: true, force: true });
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
      'api_keys (employer_id, public_id, secret_hash, capability, name, created_at)',
      "('e', 'p', 's', 'holder', 'n', 't')",
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
