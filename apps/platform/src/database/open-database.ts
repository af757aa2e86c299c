/**
 * Opens the embedded database of a data directory: locked, migrated, behind Kysely.
 *
 * @module
 */
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { type Kysely, Kysely as KyselyDatabase, PGliteDialect, sql } from 'kysely';
import { lockDirectory } from './directory-lock.ts';

/** A numbered change of the schema. Never edited once released; the next one gets the next number. */
export type Migration = { readonly number: number; readonly statements: readonly string[] };

export type OpenDatabase<T> = {
  readonly db: Kysely<T>;
  close(): Promise<void>;
};

/**
 * @param directory - data directory; `memory:` keeps everything in memory (tests)
 * @throws PoolError `data_directory_locked`
 */
export async function openDatabase<T>(
  directory: string,
  migrations: readonly Migration[],
): Promise<OpenDatabase<T>> {
  const inMemory = directory === 'memory:';
  const lock = inMemory ? undefined : lockDirectory(directory);
  try {
    const pglite = inMemory ? new PGlite() : new PGlite(join(directory, 'database'));
    await pglite.waitReady;
    const db = new KyselyDatabase<T>({ dialect: new PGliteDialect({ pglite }) });
    await migrate(db, migrations);
    return {
      db,
      async close() {
        await db.destroy();
        lock?.release();
      },
    };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

// Each migration and the record that it ran are one transaction: a crash leaves all of it or nothing.
async function migrate<T>(db: Kysely<T>, migrations: readonly Migration[]): Promise<void> {
  await sql`create table if not exists schema_migrations (
    number integer primary key, applied_at timestamptz not null default now())`.execute(db);
  const applied = await sql<{ number: number }>`select number from schema_migrations`.execute(db);
  const done = new Set(applied.rows.map((row) => row.number));
  for (const migration of migrations) {
    if (done.has(migration.number)) {
      continue;
    }
    await db.transaction().execute(async (trx) => {
      for (const statement of migration.statements) {
        await sql.raw(statement).execute(trx);
      }
      await sql`insert into schema_migrations (number) values (${migration.number})`.execute(trx);
    });
  }
}
