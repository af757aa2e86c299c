/**
 * Whether a PostgreSQL server keeps acknowledged writes through a power cut. Acknowledged data (sealed notes,
 * settlements, revocations) cannot be requested again.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { type Kysely, sql } from 'kysely';
import type { Logger as Log } from 'pino';

/** @throws PoolError `database_refused`, when durability is required */
export async function assertDurable<T>(db: Kysely<T>, must: boolean, log: Log): Promise<void> {
  const wrong = await findWeakSettings(db);
  if (wrong.length === 0) {
    return;
  }
  if (must) {
    throw new PoolError(
      'database_refused',
      `DATABASE_URL: this server may lose what it has answered when its power fails: switch on ${wrong.join(', ')}`,
    );
  }
  log.warn({ settings: wrong }, 'the database may lose what it has answered when its power fails');
}

/** Names of the settings that are off. */
async function findWeakSettings<T>(db: Kysely<T>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from pg_settings
    where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'
    order by name`.execute(db);
  return rows.map(({ name }) => name);
}
