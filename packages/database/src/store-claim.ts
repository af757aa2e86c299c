/**
 * Whether this process may use a PostgreSQL database: it is empty, or the same part of Pool made it.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import type pg from 'pg';

export type StorePart = 'platform' | 'gate';

/** The oldest release that the tests cover. */
const oldestServer = 150_000;

/**
 * Marks an empty database as the part's, and counts its owners. Only the holder of the lock may call it.
 * @returns the new owner's number
 * @throws PoolError `database_refused`
 */
export async function claimStore(client: pg.Client, part: StorePart): Promise<number> {
  await assertServer(client);
  const found = await client.query<{ name: string }>(
    'select tablename as name from pg_tables where schemaname = current_schema()',
  );
  const tables = new Set(found.rows.map(({ name }) => name));
  if (!tables.has('pool_store')) {
    if (tables.size > 0) {
      throw new PoolError(
        'database_refused',
        `DATABASE_URL: the database has tables of another program; give the ${part} its own empty database`,
      );
    }
    await client.query(
      `create table pool_store (
        only_row boolean primary key default true check (only_row),
        part text not null,
        epoch integer not null)`,
    );
  }
  await client.query('insert into pool_store (part, epoch) values ($1, 0) on conflict do nothing', [
    part,
  ]);
  const { rows } = await client.query<{ part: string; epoch: number }>(
    'update pool_store set epoch = epoch + 1 where part = $1 returning epoch',
    [part],
  );
  const [owned] = rows;
  if (owned === undefined) {
    const other = part === 'gate' ? 'platform' : 'gate';
    throw new PoolError(
      'database_refused',
      `DATABASE_URL: this is the database of a ${other}; the ${part} needs one of its own (the same server may hold both)`,
    );
  }
  return owned.epoch;
}

async function assertServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number; encoding: string; schema: string | null }>(
    `select current_setting('server_version_num')::integer as version,
      current_setting('server_encoding') as encoding, current_schema() as schema`,
  );
  const [server] = rows;
  if (server === undefined || server.version < oldestServer) {
    throw unsuitable('PostgreSQL 15 or newer is required');
  }
  if (server.encoding !== 'UTF8') {
    throw unsuitable('the database must have the encoding UTF8');
  }
  if (server.schema === null) {
    throw unsuitable('the user has no schema to make tables in (search_path)');
  }
}

function unsuitable(what: string): PoolError {
  return new PoolError('database_refused', `DATABASE_URL: ${what}`);
}
