/**
 * The platform's database on a real PostgreSQL server: its lock, its types, and its behaviour when the server goes
 * away.
 */

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { claimStore, type OpenDatabase, openStore, ownerLock } from '@pool/database';
import { parsePostgresUrl } from '@pool/storage/postgres';
import { type PostgresServer, startPostgres } from '@pool/testkit';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PlatformTables } from '../../../../packages/database/src/platform-tables.ts';
import { platformMigrations } from '../../../../packages/database/src/platform-tables.ts';
import {
  openMemoryDatabase,
  openPostgresStore,
} from '../../../../packages/database/test/test-store.ts';
import { createLog } from '../../../../packages/http-server/src/service/log.ts';
import { type GateTables, gateMigrations } from '../../../../packages/pool-gate/src/gate-tables.ts';
import { insertTransaction } from '../../../../packages/relayer/src/send/nonces.ts';

let server: PostgresServer;
let url: string;
const open: OpenDatabase<PlatformTables>[] = [];

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());
beforeEach(async () => {
  url = await server.createDatabase();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((database) => database.close()));
});

async function openPlatform(at = url): Promise<OpenDatabase<PlatformTables>> {
  const database = await openPostgresStore<PlatformTables>(at, 'platform', platformMigrations);
  open.push(database);
  return database;
}
function openGate(at = url) {
  return openPostgresStore<GateTables>(at, 'gate', gateMigrations);
}
function databaseOf(text: string) {
  return new URL(text).pathname.slice(1);
}
function storeSigned({ db, ownership }: OpenDatabase<PlatformTables>) {
  return db.transaction().execute((trx) => ownership.assertOwner(trx));
}

describe('a database on a PostgreSQL server', () => {
  it('has the migrations of the embedded one, and keeps its rows', async () => {
    const first = await openPlatform();
    await first.db.insertInto('employers').values(employer('e')).execute();
    await first.close();
    const again = await openPlatform();
    expect(await again.db.selectFrom('employers').select('id').execute()).toEqual([{ id: 'e' }]);
    const embedded = await openMemoryDatabase<PlatformTables>(platformMigrations);
    const describeTables = (db: typeof embedded.db) =>
      sql`select table_name, column_name, data_type, is_nullable, is_identity
        from information_schema.columns where table_schema = 'public' and table_name <> 'pool_store'
        order by 1, 2`.execute(db);
    const [ours, theirs] = await Promise.all([again.db, embedded.db].map(describeTables));
    expect(ours?.rows).toEqual(theirs?.rows);
    await embedded.close();
  });

  it('reads every type as the embedded one does', async () => {
    const { db } = await openPlatform();
    const embedded = await openMemoryDatabase<PlatformTables>(platformMigrations);
    const values = (on: typeof db) =>
      sql`select 1::integer as i, 9007199254740991::bigint as b, -1::bigint as m, true as t, null::bigint as n,
        'x' as x, count(*) as c, max(2::bigint) as h, sum(3::integer) as s, 1.50::numeric as d,
        timestamptz '2026-11-22 08:00:00+02' as z, '{"a":1}'::jsonb as j`.execute(on);
    const [ours, theirs] = await Promise.all([db, embedded.db].map(values));
    expect(ours?.rows).toEqual(theirs?.rows);
    expect(ours?.rows).toMatchObject([{ b: Number.MAX_SAFE_INTEGER, c: 1, h: 2 }]);
    await expect(sql`select 9007199254740993::bigint`.execute(db)).rejects.toThrow('too large');
    await embedded.close();
  });

  it('belongs to one process: one of two concurrent starts fails with the reason', async () => {
    const started = await Promise.allSettled([openPlatform(), openPlatform()]);
    const refused = started.filter(({ status }) => status === 'rejected');
    expect(refused).toMatchObject([{ reason: { code: 'database_locked' } }]);
    await Promise.all(open.splice(0).map((database) => database.close()));
    await openPlatform();
  });

  it('is refused for another part of Pool, and if it has foreign tables', async () => {
    const platform = await openPlatform();
    await platform.close();
    await expect(openGate()).rejects.toMatchObject({
      code: 'database_refused',
      message: expect.stringContaining('the database of a platform'),
    });
    const used = await server.createDatabase();
    await server.query('create table theirs (n integer)', databaseOf(used));
    await expect(openGate(used)).rejects.toMatchObject({ code: 'database_refused' });
    await openPlatform();
  });

  it('is refused when a later version wrote it', async () => {
    const { db, close } = await openPlatform();
    await sql`insert into schema_migrations (number) values (100000)`.execute(db);
    await close();
    await expect(openPlatform()).rejects.toMatchObject({ code: 'database_refused' });
  });

  it('is refused if the data directory has an embedded database, which would be ignored', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'pool-db-'));
    await mkdir(join(directory, 'database'));
    const settings = parsePostgresUrl(url);
    if (typeof settings === 'string') throw new Error(settings);
    const config = {
      kind: 'postgres',
      settings,
      poolSize: 2,
      directory,
      mustBeDurable: false,
    } as const;
    await expect(
      openStore(config, 'platform', platformMigrations, createLog('silent', 'test')),
    ).rejects.toMatchObject({ code: 'database_refused' });
    await rm(directory, { recursive: true });
  });

  it('is refused in production when the server does not wait for the disk', async () => {
    const settings = parsePostgresUrl(url);
    if (typeof settings === 'string') throw new Error(settings);
    const config = {
      kind: 'postgres',
      settings,
      poolSize: 2,
      directory: undefined,
      mustBeDurable: true,
    } as const;
    await expect(
      openStore(config, 'platform', platformMigrations, createLog('silent', 'test')),
    ).rejects.toMatchObject({
      code: 'database_refused',
      message: expect.stringContaining('switch on fsync'),
    });
    // The refusal released the lock.
    await openPlatform();
  });

  it.each([
    ['a wrong password', (text: string) => text.replace(server.password, 'CANARY'), 'password'],
    ['no such database', (text: string) => text.replace(databaseOf(text), 'CANARY'), '3D000'],
    ['a server without TLS', (text: string) => text.replace('disable', 'verify-full'), 'no TLS'],
  ])('reports the problem at start without a secret: %s', async (_name, change, problem) => {
    const failed = await openPlatform(change(url)).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 'database_unavailable' });
    expect(String(failed)).toContain(problem);
    expect(String(failed)).not.toContain('CANARY');
    expect(String(failed)).not.toContain(server.password);
  });
});

describe('a PostgreSQL server that goes away', () => {
  it('causes 503 while it is away, and then everything continues', async () => {
    const { db, ownership } = await openPlatform();
    await db.insertInto('employers').values(employer('kept')).execute();
    await server.kill();
    await expect(db.selectFrom('employers').selectAll().execute()).rejects.toMatchObject({
      code: 'database_unavailable',
      status: 503,
      retryable: true,
    });
    await expect.poll(() => ownership.isHeld(), { timeout: 10_000 }).toBe(false);
    await server.start();
    await expect.poll(() => ownership.isHeld(), { timeout: 20_000 }).toBe(true);
    expect(await db.selectFrom('employers').select('id').execute()).toEqual([{ id: 'kept' }]);
    await db.transaction().execute((trx) => ownership.assertOwner(trx));
  });

  it('stops a process without the lock from sending, from the moment another process has the lock', async () => {
    const first = await openPlatform();
    await storeSigned(first);
    const next = await takeLockFrom(first);
    // The session with its lock is gone and its other connections work, so it has not noticed yet.
    await claimStore(next, 'platform');
    await expect(storeSigned(first)).rejects.toMatchObject({ code: 'database_lock_lost' });
    const { assertOwner } = first.ownership;
    const deps = { db: first.db, chain: { key: 'anvil' }, nowMs: Date.now, assertOwner };
    const signed = {
      nonce: 0,
      sender: '0xR',
      txHash: '0x1',
      rawTransaction: '0x',
      gasLimit: 1n,
      maxFeePerGas: 1n,
    };
    await expect(insertTransaction(deps as never, 1, 'fund', signed)).rejects.toMatchObject({
      code: 'database_lock_lost',
    });
    expect((await first.ownership.lost).code).toBe('database_lock_lost');
    expect(first.ownership.isHeld()).toBe(false);
    await next.end();
    const second = await openPlatform();
    await storeSigned(second);
  });

  it('does not admit the next process while the previous one stores what it will send', async () => {
    const first = await openPlatform();
    const inside = Promise.withResolvers<undefined>();
    const mayFinish = Promise.withResolvers<undefined>();
    const storing = first.db.transaction().execute(async (trx) => {
      await first.ownership.assertOwner(trx);
      inside.resolve(undefined);
      await mayFinish.promise;
      await trx.insertInto('employers').values(employer('stored')).execute();
    });
    await inside.promise;
    const next = await takeLockFrom(first);
    const claiming = claimStore(next, 'platform').then(async () => {
      const { rows } = await next.query<{ id: string }>('select id from employers');
      return rows;
    });
    const before = await Promise.race([claiming, delay(500, 'waits')]);
    expect(before).toBe('waits');
    mayFinish.resolve(undefined);
    await storing;
    expect(await claiming).toEqual([{ id: 'stored' }]);
    await next.end();
  });
});

/** A session that gets the lock at the moment when the owner's session ends, which is now. */
async function takeLockFrom(owner: OpenDatabase<PlatformTables>): Promise<pg.Client> {
  const next = new pg.Client({ connectionString: url });
  await next.connect();
  const taken = next.query('select pg_advisory_lock($1, $2)', [...ownerLock]);
  await expect
    .poll(() => server.query(`select 1 from pg_locks where locktype = 'advisory' and not granted`))
    .toHaveLength(1);
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'pool-platform-lock' and datname = current_database()`.execute(
    owner.db,
  );
  await taken;
  return next;
}

function employer(id: string) {
  return { id, address: `0x${id}`, name: null, created_at: 't' };
}
