// What only a real server can show: many processes at once, its clock, its end, and the numbers of its tables.
import { createDatabase, type PostgresServer, startPostgres } from '@pool/testkit';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { settingsOf } from './fixtures/postgres.ts';
import type { JobStore } from './job-store.ts';
import { findPostgresStore, openPostgresStore } from './postgres-store.ts';

const job = { scope: 's', fingerprint: 'f', state: 'accepted', payload: '{}', nowMs: 1 };
const lease = { states: ['accepted'], ttlMs: 60_000, nowMs: 1 };

let server: PostgresServer;
let url: string;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());
beforeEach(async () => {
  url = await createDatabase(server.url('postgres'));
});

async function open(): Promise<JobStore> {
  const store = await openPostgresStore({ settings: settingsOf(url) });
  onTestFinished(() => store.close());
  return store;
}

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

describe('the PostgreSQL store', () => {
  it('is prepared once by any number of processes that start at once', async () => {
    const stores = await Promise.all(Array.from({ length: 5 }, open));
    await stores[0]?.claim({ ...job, key: 'k' });
    expect(await stores[4]?.get('s', 'k')).toMatchObject({ key: 'k' });
  });

  it('creates each of 50 keys once, and leases each to one worker, for 8 workers of 2 agents', async () => {
    const agents = [await open(), await open()];
    const keys = Array.from({ length: 50 }, (_, index) => `k${index}`);
    const outcomes = await Promise.all(
      agents.flatMap((store) => keys.map((key) => store.claim({ ...job, key }))),
    );
    expect(outcomes.filter(({ outcome }) => outcome === 'created')).toHaveLength(50);
    const work = async (store: JobStore, workerId: string): Promise<string[]> => {
      const taken: string[] = [];
      for (;;) {
        const next = await store.lease({ ...lease, workerId });
        if (next === undefined) {
          return taken;
        }
        expect(next.fence).toBe(1);
        taken.push(next.job.key);
      }
    };
    const taken = await Promise.all(
      Array.from({ length: 8 }, (_, index) => work(agents[index % 2] ?? agents[0]!, `w${index}`)),
    );
    expect(taken.flat().sort()).toEqual([...keys].sort());
  });

  it('gives one of many concurrent writers of a name the first word', async () => {
    const agents = [await open(), await open()];
    await agents[0]?.claim({ ...job, key: 'k' });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (agents[index % 2] ?? agents[0]!).ask({
          scope: 's',
          key: 'k',
          name: 'n',
          value: String(index),
        }),
      ),
    );
    expect(new Set(answers).size).toBe(1);
  });

  it('does not wait for a job that another process is leasing', async () => {
    const store = await open();
    await store.claim({ ...job, key: 'first' });
    await store.claim({ ...job, key: 'second', nowMs: 2 });
    const other = await connect();
    await other.query("begin; select * from job where key = 'first' for update");
    expect((await store.lease({ ...lease, workerId: 'w' }))?.job.key).toBe('second');
    await other.query('rollback');
    expect((await store.lease({ ...lease, workerId: 'w' }))?.job.key).toBe('first');
  });

  it('ends a lease by its own clock, whatever a worker believes', async () => {
    const store = await open();
    await store.claim({ ...job, key: 'k' });
    await store.lease({ ...lease, workerId: 'w' });
    const tomorrow = Date.now() + 86_400_000;
    expect(await store.lease({ ...lease, workerId: 'fast', nowMs: tomorrow })).toBeUndefined();
    const name = { scope: 's', key: 'k', fence: 1 };
    expect(await store.renew({ ...name, ttlMs: 1, nowMs: tomorrow })).toBe(true);
    await expect
      .poll(async () => (await store.lease({ ...lease, workerId: 'slow', nowMs: 1 }))?.fence)
      .toBe(2);
    await expect(
      store.update({ ...name, state: 'done', payload: 'late', nowMs: 1 }),
    ).rejects.toMatchObject({ code: 'stale_fence' });
  });

  it('answers store_busy while a row is locked for long, and while the server is away, and works again', async () => {
    const store = await open();
    await store.claim({ ...job, key: 'k' });
    const held = await store.lease({ ...lease, workerId: 'w' });
    const write = { scope: 's', key: 'k', fence: held?.fence ?? 0, name: 'n', value: 'v' };
    const other = await connect();
    await other.query("begin; select * from job where key = 'k' for update");
    const busy = { code: 'store_busy', retryable: true };
    await expect(store.putOnce(write)).rejects.toMatchObject(busy);
    await other.query('rollback');
    await server.kill();
    await expect(store.putOnce(write)).rejects.toMatchObject(busy);
    await server.start();
    expect(await store.putOnce(write)).toBe('v');
  });

  it.each([
    [':wrong@', 'the server refuses this user or password (28P01)'],
    ['@', 'the server asks for a password'],
  ])('says at the start why the server lets nobody in with %s', async (password, why) => {
    const settings = settingsOf(url.replace(/:[^:@]+@/, password));
    await expect(openPostgresStore({ settings })).rejects.toMatchObject({
      code: 'store_busy',
      message: expect.stringContaining(why),
    });
  });

  it('is neither made nor changed by a command that only reads', async () => {
    const settings = settingsOf(url);
    expect(await findPostgresStore({ settings })).toBeUndefined();
    const client = await connect();
    const tables = "select 1 from pg_tables where schemaname = 'public'";
    expect((await client.query(tables)).rows).toEqual([]);
    await (await open()).claim({ ...job, key: 'k' });
    const reader = await findPostgresStore({ settings });
    onTestFinished(() => reader!.close());
    expect(await reader?.get('s', 'k')).toMatchObject({ key: 'k' });
    await expect(reader?.claim({ ...job, key: 'other' })).rejects.toThrow();
    expect((await client.query('select key from job')).rows).toEqual([{ key: 'k' }]);
    await client.query('delete from job_schema');
    await expect(findPostgresStore({ settings })).rejects.toThrow('start an agent of this version');
  });

  it('refuses tables of a later version', async () => {
    await open();
    await (await connect()).query('insert into job_schema (number) values (99)');
    await expect(open()).rejects.toMatchObject({ code: 'database_refused' });
  });

  it('refuses a server that may lose what it has acknowledged, where that matters', async () => {
    await expect(
      openPostgresStore({ settings: settingsOf(url), mustBeDurable: true }),
    ).rejects.toThrow('switch on fsync');
  });
});
