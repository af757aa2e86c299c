/**
 * Numbered tables in a PostgreSQL database that processes share, and the use of them: every failure of the server is one error.
 *
 * @module
 */
import { isPoolError, PoolError } from '@pool/core';
import { explainFirstFailure } from './postgres-errors.ts';
import {
  createPostgresPool,
  type PostgresConnection,
  type PostgresLimits,
} from './postgres-pool.ts';
import type { PostgresSettings } from './postgres-url.ts';
import { findWeakSettings } from './weak-settings.ts';

export type PostgresQuery = PostgresConnection['query'];

export type PostgresTables = {
  /** @throws PoolError `database_unavailable` when the server does not answer; and the errors of `work` */
  use<T>(work: (query: PostgresQuery) => Promise<T>): Promise<T>;
  /** All writes of `work`, or none. A COMMIT that fails may have happened. @throws as `use` */
  inTransaction<T>(work: (query: PostgresQuery) => Promise<T>): Promise<T>;
  /** May be called twice. */
  close(): Promise<void>;
};

/** The longest use of a connection, with the wait for one, in milliseconds: a lease of several seconds is renewed in time. */
export const longestUseMs = 2_000;

const sharedLimits: PostgresLimits = { connectMs: 700, statementMs: 1_000, answerMs: 1_200 };

const migrationLimits: PostgresLimits = { connectMs: 5_000, statementMs: 60_000, answerMs: 65_000 };

/** "pool", and the lock of these migrations: processes that start at once migrate one after the other. */
const migrationLock = 'select pg_advisory_xact_lock(1886351212, 3)';

export type PostgresTablesOptions = {
  readonly settings: PostgresSettings;
  /** Of the tables: `<name>_schema` has the numbers of their changes. */
  readonly name: string;
  readonly size: number;
  /** Statements of each change, applied once, in order. A released one is never edited. */
  readonly migrations: readonly (readonly string[])[];
  /** Refuses a server that may lose what it has acknowledged. */
  readonly mustBeDurable: boolean;
};

/** @throws PoolError `database_unavailable`, `database_refused` */
export async function openPostgresTables(options: PostgresTablesOptions): Promise<PostgresTables> {
  await withMigrator(options, prepare);
  return share(options);
}

/**
 * For a command beside the processes that prepare the tables. Changes no table.
 * @param access - with `read` the server refuses every write
 * @returns undefined if no process has prepared them
 * @throws as {@link openPostgresTables}
 */
export async function findPostgresTables(
  options: PostgresTablesOptions,
  access: 'read' | 'write',
): Promise<PostgresTables | undefined> {
  const isPrepared = await withMigrator(options, async (query) => {
    const { rows } = await query<{ found: unknown }>('select to_regclass($1) as found', [
      schemaOf(options),
    ]);
    if (rows[0]?.found === null) {
      return false;
    }
    if ((await findMissing(query, options)).length > 0) {
      throw refused(
        'an earlier version of this program prepared the database; start an agent of this version first',
      );
    }
    return true;
  });
  return isPrepared ? share(options, access === 'read') : undefined;
}

function share(options: PostgresTablesOptions, isReader = false): PostgresTables {
  return useConnections({ ...baseOf(options), limits: sharedLimits, isReader }, longestUseMs);
}

function baseOf({ settings, name, size }: PostgresTablesOptions) {
  return { settings, size, name: `pool-agent-${name}` };
}

/** In one transaction of a connection that may take its time. */
async function withMigrator<T>(
  options: PostgresTablesOptions,
  work: (query: PostgresQuery, options: PostgresTablesOptions) => Promise<T>,
): Promise<T> {
  const migrator = useConnections(
    { ...baseOf(options), size: 1, limits: migrationLimits },
    120_000,
  );
  try {
    return await migrator.inTransaction(async (query) => {
      const weak = await findWeakSettings((text) => query(text));
      if (options.mustBeDurable && weak.length > 0) {
        throw refused(
          `this server may lose what it has acknowledged when its power fails: switch on ${weak.join(', ')}`,
        );
      }
      return await work(query, options);
    });
  } catch (error) {
    throw isPoolError(error) && error.code === 'database_unavailable'
      ? new PoolError('database_unavailable', explainFirstFailure(error.cause), { cause: error })
      : error;
  } finally {
    await migrator.close();
  }
}

function useConnections(
  options: Parameters<typeof createPostgresPool>[0],
  useMs: number,
): PostgresTables {
  const pool = createPostgresPool(options);

  async function use<T>(work: (query: PostgresQuery) => Promise<T>): Promise<T> {
    const startedAtMs = performance.now();
    const connection = await pool.connect();
    const { promise: tooLate, reject } = Promise.withResolvers<never>();
    let isOver = false;
    const timer = setTimeout(
      () => {
        isOver = true;
        // Its transaction ends with the connection, which the pool replaces.
        connection.release(true);
        reject(new PoolError('database_unavailable', 'the database takes too long; try again'));
      },
      useMs - (performance.now() - startedAtMs),
    );
    const done = work(connection.query);
    // Its end is of no interest any more when it comes too late.
    done.catch(() => undefined);
    try {
      return await Promise.race([done, tooLate]);
    } finally {
      clearTimeout(timer);
      if (!isOver) {
        connection.release();
      }
    }
  }

  return {
    use,
    inTransaction: (work) =>
      use(async (query) => {
        await query('begin');
        try {
          const result = await work(query);
          await query('commit');
          return result;
        } catch (error) {
          await query('rollback').catch(() => undefined);
          throw error;
        }
      }),
    close: () => pool.end(),
  };
}

async function prepare(query: PostgresQuery, options: PostgresTablesOptions): Promise<void> {
  const schema = schemaOf(options);
  await query(migrationLock);
  await query(`create table if not exists ${schema} (number integer primary key)`);
  for (const number of await findMissing(query, options)) {
    for (const statement of options.migrations[number - 1] ?? []) {
      await query(statement);
    }
    await query(`insert into ${schema} (number) values ($1)`, [number]);
  }
}

function schemaOf({ name }: PostgresTablesOptions): string {
  return `${name}_schema`;
}

/** Numbers of the changes that are to be made. @throws PoolError `database_refused` for tables of a later version */
async function findMissing(
  query: PostgresQuery,
  options: PostgresTablesOptions,
): Promise<readonly number[]> {
  const { rows } = await query<{ number: number }>(`select number from ${schemaOf(options)}`);
  const done = new Set(rows.map(({ number }) => number));
  if (Math.max(0, ...done) > options.migrations.length) {
    throw refused(
      'a later version of this program wrote the database; run that version, or restore the backup from before the upgrade',
    );
  }
  return options.migrations.map((_, index) => index + 1).filter((number) => !done.has(number));
}

function refused(what: string): PoolError {
  return new PoolError('database_refused', what);
}
