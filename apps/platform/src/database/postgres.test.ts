/**
 * The platform's database on a real PostgreSQL server: its leaders, its types, and its behaviour when the server goes
 * away.
 */

import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type OpenDatabase, openStore, type Term, writeAsLeader } from '@pool/database';
import { parsePostgresUrl } from '@pool/storage/postgres';
import { type PostgresServer, startPostgres } from '@pool/testkit';
import { sql } from 'kysely';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  onTestFinished,
  vi,
} from 'vitest';
import type { PlatformTables } from '../../../../packages/database/src/platform-tables.ts';
import { platformMigrations } from '../../../../packages/database/src/platform-tables.ts';
import {
  openMemoryDatabase,
  openPostgresStore,
} from '../../../../packages/database/test/test-store.ts';
import { createLog } from '../../../../packages/http-server/src/service/log.ts';
import { type GateTables, gateMigrations } from '../../../../packages/pool-gate/src/gate-tables.ts';
import { insertTransaction } from '../../../../packages/relayer/src/send/sent-nonces.ts';
import { parsePlatformConfig } from '../config.ts';
import { createTestEnvironments } from '../fixtures/test-environment.ts';
import { servePlatform } from '../serve-platform.ts';

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
const role = 'relayer';
/** Waits until a process leads. */
async function lead({ leaders }: OpenDatabase<PlatformTables>): Promise<Term> {
  return await expect
    .poll(() => leaders.term(role))
    .toBeDefined()
    .then(() => {
      const term = leaders.term(role);
      if (term === undefined) throw new Error('the term ended at once');
      return term;
    });
}
/** Ends the session with which the leader holds its lock. Its process goes on. */
async function endLeadersSession(): Promise<void> {
  await server.query(
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
      and database = (select oid from pg_database where datname = '${databaseOf(url)}')`,
  );
}
function store({ db }: OpenDatabase<PlatformTables>, term: Term) {
  return writeAsLeader({ db, assertLeader: term.assertLeader }, (trx) =>
    trx
      .insertInto('indexer_cursors')
      .values({ chain: randomUUID(), block_number: 1, block_hash: '0x' })
      .execute(),
  );
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

  it('is shared: of two processes that start at once one leads each role, and the other one after it', async () => {
    const both = await Promise.all([openPlatform(), openPlatform()]);
    const leading = () => both.filter(({ leaders }) => leaders.term(role) !== undefined);
    await expect.poll(() => leading().length).toBe(1);
    await delay(1_500);
    const [leader] = leading();
    expect(leading()).toHaveLength(1);
    if (leader === undefined) throw new Error('no leader');
    const term = await lead(leader);
    const other = both.find((process) => process !== leader);
    if (other === undefined) throw new Error('no other');
    // The roles are led apart.
    await expect.poll(() => other.leaders.term('indexer')).toBeDefined();
    await leader.close();
    open.splice(open.indexOf(leader), 1);
    const next = await lead(other);
    expect(next.epoch).toBe(term.epoch + 1);
    await store(other, next);
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

  it('is not halted by a process whose chains.json names another pool for a chain: that one does not start', async () => {
    const { db } = await openPlatform();
    const cursor = { chain: 'anvil', block_number: 1, block_hash: '0x', pool: '0xother' };
    await db.insertInto('indexer_cursors').values(cursor).execute();
    const directory = await mkdtemp(join(tmpdir(), 'pool-db-'));
    const { platform } = createTestEnvironments(directory);
    const config = parsePlatformConfig({ ...platform, DATABASE_URL: url });
    await expect(servePlatform(config, createLog('silent', 'test'))).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringMatching(/anvil.*0xother/u),
    });
    expect(await db.selectFrom('indexer_cursors').select('halted').execute()).toEqual([
      { halted: null },
    ]);
    await rm(directory, { recursive: true });
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
    const database = await openPlatform();
    const { db, leaders } = database;
    const before = await lead(database);
    await db.insertInto('employers').values(employer('kept')).execute();
    await server.kill();
    await expect(db.selectFrom('employers').selectAll().execute()).rejects.toMatchObject({
      code: 'database_unavailable',
      status: 503,
      retryable: true,
    });
    await expect.poll(() => leaders.isAnswering()).toBe(false);
    await server.start();
    await expect.poll(() => leaders.isAnswering()).toBe(true);
    expect(await db.selectFrom('employers').select('id').execute()).toEqual([{ id: 'kept' }]);
    const after = await lead(database);
    expect(after.epoch).toBe(before.epoch + 1);
    await store(database, after);
    await expect(store(database, before)).rejects.toMatchObject({ code: 'database_lock_lost' });
  });

  it('causes 503, and no other failure, where two transactions block each other and where a connection is cut', async () => {
    const { db } = await openPlatform();
    await db
      .insertInto('employers')
      .values([employer('a'), employer('b')])
      .execute();
    const both = Promise.withResolvers<undefined>();
    let inside = 0;
    const swap = (first: string, second: string) =>
      db.transaction().execute(async (trx) => {
        const rename = (id: string) =>
          trx.updateTable('employers').set({ name: first }).where('id', '=', id).execute();
        await rename(first);
        inside += 1;
        if (inside === 2) both.resolve(undefined);
        await both.promise;
        await rename(second);
      });
    const outcomes = await Promise.allSettled([swap('a', 'b'), swap('b', 'a')]);
    const failed = outcomes.filter(({ status }) => status === 'rejected');
    const refusal = {
      code: 'database_unavailable',
      status: 503,
      details: { retryAfterSeconds: 2 },
    };
    expect(failed).toMatchObject([{ reason: refusal }]);
    const cut = db.transaction().execute(async (trx) => {
      await sql`select pg_terminate_backend(pg_backend_pid())`.execute(trx);
    });
    await expect(cut).rejects.toMatchObject(refusal);
    expect(await db.selectFrom('employers').select('id').execute()).toHaveLength(2);
  });

  it('stops a leader from writing once another process leads, before it notices', async () => {
    const first = await openPlatform();
    const term = await lead(first);
    await store(first, term);
    // As the next leader raises it. The session of the first one is alive, so it knows nothing.
    await server.query('update leaders set epoch = epoch + 1', databaseOf(url));
    expect(first.leaders.term(role)).toBeDefined();
    await expect(store(first, term)).rejects.toMatchObject({ code: 'database_lock_lost' });
    const { assertLeader } = term;
    const deps = { db: first.db, chain: { key: 'anvil' }, nowMs: Date.now, assertLeader };
    const signed = {
      nonce: 0,
      sender: '0xR',
      txHash: '0x1',
      rawTransaction: '0x',
      gasLimit: 1n,
      maxFeePerGas: 1n,
    };
    const as = { id: 1, purpose: 'fund', attempt: 0 } as const;
    await expect(
      writeAsLeader(deps, (trx) => insertTransaction({ ...deps, db: trx } as never, as, signed)),
    ).rejects.toMatchObject({ code: 'database_lock_lost' });
  });

  it('hands the role of a leader whose session ended to another process, whose term the first one never shares', async () => {
    const [first, second] = await Promise.all([openPlatform(), openPlatform()]);
    const term = await lead(first);
    second.leaders.term(role);
    await endLeadersSession();
    const next = await lead(second);
    expect(next.epoch).toBeGreaterThan(term.epoch);
    await expect(store(first, term)).rejects.toMatchObject({ code: 'database_lock_lost' });
    expect(first.leaders.term(role)).toBeUndefined();
    await store(second, next);
  });

  it('waits for each round anew: a session that lasts for weeks collects nothing', async () => {
    const raced: unknown[] = [];
    const race = Promise.race.bind(Promise);
    const spy = vi.spyOn(Promise, 'race').mockImplementation((some) => {
      if (new Error('where').stack?.includes('leaders.ts') === true) raced.push(...some);
      return race(some);
    });
    onTestFinished(() => spy.mockRestore());
    await lead(await openPlatform());
    await expect.poll(() => raced.length).toBeGreaterThan(3);
    expect(new Set(raced).size).toBe(raced.length);
  });

  it('hands a role over that its leader leaves, and back', async () => {
    const [first, second] = await Promise.all([openPlatform(), openPlatform()]);
    const term = await lead(first);
    second.leaders.term(role);
    first.leaders.leave(role);
    const next = await lead(second);
    expect(next.epoch).toBe(term.epoch + 1);
    await expect(store(first, term)).rejects.toMatchObject({ code: 'database_lock_lost' });
    expect(first.leaders.term(role)).toBeUndefined();
    second.leaders.leave(role);
    expect((await lead(first)).epoch).toBe(term.epoch + 2);
  });

  it('does not admit the next leader while the previous one stores what it will send', async () => {
    const [first, second] = await Promise.all([openPlatform(), openPlatform()]);
    const term = await lead(first);
    second.leaders.term(role);
    const inside = Promise.withResolvers<undefined>();
    const mayFinish = Promise.withResolvers<undefined>();
    const storing = first.db.transaction().execute(async (trx) => {
      await term.assertLeader(trx);
      inside.resolve(undefined);
      await mayFinish.promise;
      await trx.insertInto('employers').values(employer('stored')).execute();
    });
    await inside.promise;
    await endLeadersSession();
    await expect.poll(() => first.leaders.term(role)).toBeUndefined();
    await delay(2_500);
    expect([first, second].map(({ leaders }) => leaders.term(role))).toEqual([
      undefined,
      undefined,
    ]);
    mayFinish.resolve(undefined);
    await storing;
    const either = () =>
      [first, second].filter(({ leaders }) => leaders.term(role) !== undefined).length;
    await expect.poll(either).toBe(1);
    const rows = await second.db.selectFrom('employers').select('id').execute();
    expect(rows).toEqual([{ id: 'stored' }]);
  });
});

function employer(id: string) {
  return { id, address: `0x${id}`, name: null, created_at: 't' };
}
