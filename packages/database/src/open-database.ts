/**
 * Opens a database, locked and migrated, behind Kysely: the embedded one of a data directory, or one of a
 * PostgreSQL server (docs/decisions/0010).
 *
 * @module
 */
import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { PoolError } from '@pool/core';
import { type FileLock, lockFile } from '@pool/storage';
import {
  createPostgresPool,
  findWeakSettings,
  type PostgresPool,
  type PostgresSettings,
} from '@pool/storage/postgres';
import {
  type Kysely,
  Kysely as KyselyDatabase,
  type PostgresPool as KyselyPool,
  PGliteDialect,
  PostgresDialect,
  sql,
} from 'kysely';
import type { Logger as Log } from 'pino';
import { type Leaders, openLeaders, prepareStore, type StorePart, soleLeader } from './leaders.ts';

// One process per data directory. PGlite takes no lock of its own, and two writers would destroy the
// database. The lock is SQLite's: the operating system drops it with the process, so a killed platform
// leaves nothing to clean up and no stale lock.

type DirectoryLock = { release(): void };

/**
 * Creates the directory when missing, removes the rights of other users and locks it.
 * @throws PoolError `data_directory_locked` when another process, or another part of this one, holds it
 */
export function lockDirectory(directory: string): DirectoryLock {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // The directory may exist already, with rights that are too wide for its content.
  const { mode } = statSync(directory);
  if ((mode & 0o077) !== 0) {
    chmodSync(directory, mode & 0o700);
  }
  let lock: FileLock;
  try {
    lock = lockFile(join(directory, 'lock.sqlite'));
  } catch (cause) {
    throw new PoolError(
      'data_directory_locked',
      'another process uses this data directory; stop it, or choose another directory',
      { cause },
    );
  }
  let released = false;
  return {
    release() {
      if (!released) {
        released = true;
        lock.close();
      }
    },
  };
}

/** @throws PoolError `database_refused`, when durability is required */
async function assertDurable<T>(db: Kysely<T>, must: boolean, log: Log): Promise<void> {
  const wrong = await findWeakSettings((text) => sql.raw<{ name: string }>(text).execute(db));
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

// Numbered changes of a schema, each applied once.

/** A numbered change of the schema. Never edited once released; the next one gets the next number. */
export type Migration = { readonly number: number; readonly statements: readonly string[] };

/**
 * Each migration and the record that it ran are one transaction: a crash leaves all of it or nothing.
 * Two processes must not migrate at once; the lock of either kind of database prevents it.
 * @throws PoolError `database_refused` when the tables are of a later version of this program
 */
async function migrate<T>(db: Kysely<T>, migrations: readonly Migration[]): Promise<void> {
  await sql`create table if not exists schema_migrations (
    number integer primary key, applied_at timestamptz not null default now())`.execute(db);
  const applied = await sql<{ number: number }>`select number from schema_migrations`.execute(db);
  const done = new Set(applied.rows.map((row) => row.number));
  const newest = Math.max(0, ...migrations.map(({ number }) => number));
  if (Math.max(0, ...done) > newest) {
    throw new PoolError(
      'database_refused',
      'the database was written by a later version of this program; run that version, or restore the backup from before the upgrade',
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

export type OpenDatabase<T> = {
  readonly db: Kysely<T>;
  readonly leaders: Leaders;
  /** The clock that decides what has expired: the server's, or this machine's for an embedded database. Milliseconds of Unix time. */
  readonly nowMs: () => number;
  close(): Promise<void>;
};

/** Where a process keeps its rows. */
export type DatabaseConfig =
  | { readonly kind: 'embedded'; readonly directory: string }
  | {
      readonly kind: 'postgres';
      readonly settings: PostgresSettings;
      /** The most connections, besides the one that holds the locks of a leader. */
      readonly poolSize: number;
      /** Locked as well, when given: the operator's commands find the process there. */
      readonly directory: string | undefined;
      /** A server that may lose what it has answered is refused. */
      readonly mustBeDurable: boolean;
    };

/** @throws PoolError `data_directory_locked`, and as {@link openPostgres} */
export async function openStore<T>(
  config: DatabaseConfig,
  part: StorePart,
  migrations: readonly Migration[],
  log: Log,
): Promise<OpenDatabase<T>> {
  return config.kind === 'embedded'
    ? await openDatabase<T>(config.directory, migrations)
    : await openPostgres<T>(config, part, migrations, log);
}

/**
 * The embedded database.
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
    const pglite = inMemory ? new PGlite() : new PGlite(embeddedFolder(directory));
    await pglite.waitReady;
    return await migrateEmbedded<T>(pglite, migrations, lock);
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** @param lock - released when the database is closed */
export async function migrateEmbedded<T>(
  pglite: PGlite,
  migrations: readonly Migration[],
  lock?: DirectoryLock,
): Promise<OpenDatabase<T>> {
  const db = new KyselyDatabase<T>({ dialect: new PGliteDialect({ pglite }) });
  await migrate(db, migrations);
  return {
    db,
    leaders: soleLeader,
    nowMs: Date.now,
    async close() {
      await db.destroy();
      lock?.release();
    },
  };
}

/** Whether a process kept its rows there, in an embedded database. */
export function hasEmbeddedDatabase(directory: string): boolean {
  return existsSync(embeddedFolder(directory));
}

function embeddedFolder(directory: string): string {
  return join(directory, 'database');
}

/**
 * @throws PoolError `data_directory_locked`, `database_unavailable`, `database_refused`
 */
async function openPostgres<T>(
  config: DatabaseConfig & { kind: 'postgres' },
  part: StorePart,
  migrations: readonly Migration[],
  log: Log,
): Promise<OpenDatabase<T>> {
  const { directory, settings, poolSize, mustBeDurable } = config;
  const directoryLock = directory === undefined ? undefined : lockDirectory(directory);
  try {
    assertNoEmbedded(directory);
    const name = `pool-${part}`;
    await prepareStore(
      settings,
      part,
      async () => {
        const migrating = createPostgresPool({ settings, name, size: 1, limits: 'none' });
        await useOnce<T>(migrating, async (db) => {
          await assertDurable(db, mustBeDurable, log);
          await migrate(db, migrations);
        });
      },
      log,
    );
    const leaders = await openLeaders(settings, part, log);
    const pool = createPostgresPool({ settings, name, size: poolSize });
    const db = openKysely<T>(pool);
    return {
      db,
      leaders,
      nowMs: leaders.nowMs,
      async close() {
        await db.destroy();
        // Kysely ends a pool only after it has used it.
        await pool.end();
        await leaders.close();
        directoryLock?.release();
      },
    };
  } catch (error) {
    directoryLock?.release();
    throw error;
  }
}

// A server that silently replaced the embedded database would have no account and no settlement.
function assertNoEmbedded(directory: string | undefined): void {
  if (directory !== undefined && hasEmbeddedDatabase(directory)) {
    throw new PoolError(
      'database_refused',
      'the data directory has an embedded database, which DATABASE_URL would ignore; name another data directory, or remove DATABASE_URL',
    );
  }
}

/** Kysely's type of a connection has a second form, for cursors, which it uses only for streams. */
function openKysely<T>(pool: PostgresPool): Kysely<T> {
  return new KyselyDatabase<T>({
    dialect: new PostgresDialect({ pool: pool as unknown as KyselyPool }),
  });
}

async function useOnce<T>(
  pool: PostgresPool,
  work: (db: Kysely<T>) => Promise<void>,
): Promise<void> {
  const db = openKysely<T>(pool);
  try {
    await work(db);
  } finally {
    await db.destroy();
  }
}
