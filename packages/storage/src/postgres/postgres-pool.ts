/**
 * Connections to a PostgreSQL server: their limits, their types, and errors that show whether a retry helps.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { toDatabaseError } from './postgres-errors.ts';
import type { PostgresSettings } from './postgres-url.ts';

export type PoolOptions = {
  readonly settings: PostgresSettings;
  /** The name of this client in the server's own lists. */
  readonly name: string;
  readonly size: number;
  /** For migrations, which may take their time. */
  readonly isUnlimited?: boolean;
};

const connectTimeoutMs = 5_000;

/** The longest statement. No query of a request or a worker takes a tenth of it. */
const statementTimeoutMs = 15_000;

/** The client's own limit, for a server that vanished. Longer than the statement timeout of the server. */
const answerTimeoutMs = 20_000;

/** Settings of every connection. */
export function describeClient(settings: PostgresSettings, name: string): pg.ClientConfig {
  const { host, port, database, user, password, tls, caFile } = settings;
  return {
    host,
    port,
    database,
    user,
    // A function, so that neither PGPASSWORD nor a file in the home directory replaces an absent password.
    password: () => password?.reveal() ?? '',
    ssl: tls ? { rejectUnauthorized: true, ...readAuthority(caFile) } : false,
    application_name: name,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // Settings of the server or of the role must not weaken what the code relies on.
    options: '-c default_transaction_isolation=read\\ committed -c timezone=UTC',
    types,
  };
}

function readAuthority(caFile: string | undefined): { readonly ca?: string } {
  return caFile === undefined ? {} : { ca: readFileSync(caFile, 'utf8') };
}

/** A pool for Kysely. Its errors are {@link toDatabaseError}'s. */
export function createPostgresPool(options: PoolOptions): PostgresPool {
  const { settings, name, size, isUnlimited = false } = options;
  const limits = isUnlimited
    ? {}
    : {
        statement_timeout: statementTimeoutMs,
        lock_timeout: statementTimeoutMs,
        idle_in_transaction_session_timeout: answerTimeoutMs,
        query_timeout: answerTimeoutMs,
      };
  const pool = new pg.Pool({
    ...describeClient(settings, name),
    ...limits,
    max: size,
    idleTimeoutMillis: 60_000,
  });
  // An idle connection that breaks is replaced; without a listener its error would end the process.
  pool.on('error', () => undefined);
  return {
    options: {},
    async connect() {
      return wrap(await pool.connect().catch(rethrow));
    },
    async end() {
      if (!pool.ending) {
        await pool.end();
      }
    },
  };
}

const wrapped = new WeakMap<pg.PoolClient, PostgresPoolClient>();

// One wrapper for each client: Kysely knows its connections by identity.
function wrap(client: pg.PoolClient): PostgresPoolClient {
  const known = wrapped.get(client);
  if (known !== undefined) {
    return known;
  }
  let isBroken = false;
  client.on('error', () => {
    isBroken = true;
  });
  const wrapper = {
    async query(text: string, parameters: readonly unknown[]) {
      try {
        return await client.query(text, [...parameters]);
      } catch (error) {
        const translated = toDatabaseError(error);
        // After a timeout the answer may still arrive, and the next query on this connection would receive it.
        isBroken ||= translated !== error;
        throw translated;
      }
    },
    release(destroy?: boolean) {
      client.release(isBroken || destroy === true);
    },
  };
  // Kysely's type has a second form, for cursors, which it uses only for streams.
  const own = wrapper as unknown as PostgresPoolClient;
  wrapped.set(client, own);
  return own;
}

function rethrow(error: unknown): never {
  throw toDatabaseError(error);
}

const int8 = 20;

/** As PGlite reads them: a 64-bit number is a number, and refused where JavaScript could not hold it. */
const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): (text: string) => unknown {
    const usual = pg.types.getTypeParser(oid, format) as (text: string) => unknown;
    return oid === int8 ? parseInt8 : usual;
  },
};

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw new RangeError('a 64-bit number of the database is too large');
  }
  return value;
}
