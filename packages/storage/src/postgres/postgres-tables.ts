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

/**
 * @param options.name - of the tables: `<name>_schema` has the numbers of their changes
 * @param options.migrations - statements of each change, applied once, in order. A released one is never edited
 * @param options.mustBeDurable - refuses a server that may lose what it has acknowledged
 * @throws PoolError `database_unavailable`, `database_refused`
 */
export async function openPostgresTables(options: {
  readonly settings: PostgresSettings;
  readonly name: string;
  readonly size: number;
  readonly migrations: readonly (readonly string[])[];
  readonly mustBeDurable: boolean;
}): Promise<PostgresTables> {
  const { settings, name, size } = options;
  const base = { settings, name: `pool-agent-${name}` };
  const migrating = useConnections({ ...base, size: 1, limits: migrationLimits }, 120_000);
  try {
    await prepare(migrating, options);
  } catch (error) {
    throw isPoolError(error) && error.code === 'database_unavailable'
      ? new PoolError('database_unavailable', explainFirstFailure(error.cause), { cause: error })
      : error;
  } finally {
    await migrating.close();
  }
  return useConnections({ ...base, size, limits: sharedLimits }, longestUseMs);
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

async function prepare(
  { inTransaction }: PostgresTables,
  { name, migrations, mustBeDurable }: Parameters<typeof openPostgresTables>[0],
): Promise<void> {
  await inTransaction(async (query) => {
    const weak = await findWeakSettings((text) => query(text));
    if (mustBeDurable && weak.length > 0) {
      throw refused(
        `this server may lose what it has acknowledged when its power fails: switch on ${weak.join(', ')}`,
      );
    }
    await query(migrationLock);
    await query(`create table if not exists ${name}_schema (number integer primary key)`);
    const { rows } = await query<{ number: number }>(`select number from ${name}_schema`);
    const done = new Set(rows.map(({ number }) => number));
    if (Math.max(0, ...done) > migrations.length) {
      throw refused(
        'a later version of this program wrote the database; use that version, or another database',
      );
    }
    for (const [index, statements] of migrations.entries()) {
      if (!done.has(index + 1)) {
        for (const statement of statements) {
          await query(statement);
        }
        await query(`insert into ${name}_schema (number) values ($1)`, [index + 1]);
      }
    }
  });
}

function refused(what: string): PoolError {
  return new PoolError('database_refused', what);
}
