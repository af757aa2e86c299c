import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PostgresServer, startPostgres } from './postgres.ts';
import { findPostgres } from './postgres-binaries.ts';

/** A process that has ended and that its parent has not collected yet (state Z) does not run. */
function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

describe('a PostgreSQL server for tests', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it('is a released PostgreSQL, with a password', async () => {
    expect(server.version).toMatch(/^postgres \(PostgreSQL\) \d+\.\d+/);
    const database = new URL(await server.createDatabase()).pathname.slice(1);
    expect(await server.query('select 1 as one', database)).toEqual([{ one: 1 }]);
    expect(
      await server.query('select rolpassword from pg_authid where rolname = current_user'),
    ).toMatchObject([{ rolpassword: expect.stringMatching(/^SCRAM-SHA-256\$/) }]);
  });

  it('ends each of its processes when it is killed, and starts again on the same data', async () => {
    await server.query('create table kept (n integer)');
    await server.query('insert into kept values (7)');
    const [session] = await server.query('select pg_backend_pid() as pid');
    const before = server.pid();
    await server.kill();
    await expect(server.query('select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect([before, Number(session?.['pid'])].filter(isRunning)).toEqual([]);
    await server.start();
    expect(await server.query('select n from kept')).toEqual([{ n: 7 }]);
  });
});

describe('the folder of PostgreSQL', () => {
  it('is the named folder, and otherwise the package from npm', () => {
    expect(findPostgres({ POOL_TEST_POSTGRES_BIN: '/pg/bin' })?.postgres).toBe('/pg/bin/postgres');
    expect(findPostgres({ POOL_TEST_POSTGRES_BIN: '' })).toEqual(findPostgres({}));
  });
});
