/**
 * Numbered changes of a schema, each applied once.
 *
 * @module
 */
import { PoolError } from '@pool/core';
import { type Kysely, sql } from 'kysely';

/** A numbered change of the schema. Never edited once released; the next one gets the next number. */
export type Migration = { readonly number: number; readonly statements: readonly string[] };

/**
 * Each migration and the record that it ran are one transaction: a crash leaves all of it or nothing.
 * Two processes must not migrate at once; the lock of either kind of database prevents it.
 * @throws PoolError `database_refused` when the tables are of a later version of this program
 */
export async function migrate<T>(db: Kysely<T>, migrations: readonly Migration[]): Promise<void> {
  await sql`create table if not exists schema_migrations (
    number integer primary key, applied_at timestamptz not null default now())`.execute(db);
  const applied = await sql<{ number: number }>`select number from schema_migrations`.execute(db);
  const done = new Set(applied.rows.map((row) => row.number));
  const newest = Math.max(0, ...migrations.map(({ number }) => number));
  if (Math.max(0, ...done) > newest) {
    throw new PoolError(
      'database_refused',
      'the database was written by a later version of this program; run that version, or restore a backup from before it',
    );
  }
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
