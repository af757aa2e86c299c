/**
 * Connections to a PostgreSQL server: their limits, their types, and errors that show whether a retry helps.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { toDatabaseError } from './postgres-errors.ts';
import type { PostgresSettings } from './postgres-url.ts';

export type PoolOptions = {
  readonly settings: PostgresSettings;
  /** The name of this client in the server's own lists. */
  readonly name: string;
  readonly size: number;
  /** `none` for migrations, which may take their time. Default: those of a service. */
  readonly limits?: PostgresLimits | 'none';
  /** The server refuses every write. Default: false. */
  readonly isReader?: boolean;
};

/** How long a pool waits, in milliseconds. */
export type PostgresLimits = {
  readonly connectMs: number;
  /** The longest statement, and the longest wait for a lock. */
  readonly statementMs: number;
  /** The client's own limit, for a server that vanished. Longer than the statement's. */
  readonly answerMs: number;
};

/** No query of a request or a worker takes a tenth of these. */
const serviceLimits: PostgresLimits = { connectMs: 5_000, statementMs: 15_000, answerMs: 20_000 };

/** One connection of a pool. Its errors are {@link toDatabaseError}'s. */
export type PostgresConnection = {
  query<Row extends Record<string, unknown>>(
    text: string,
    parameters?: readonly unknown[],
  ): Promise<{ readonly rows: Row[]; readonly rowCount: number | null }>;
  /** @param destroy - ends the connection in place of keeping it */
  release(destroy?: boolean): void;
};

export type PostgresPool = {
  readonly options: object;
  connect(): Promise<PostgresConnection>;
  end(): Promise<void>;
};

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
    connectionTimeoutMillis: serviceLimits.connectMs,
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

export function createPostgresPool(options: PoolOptions): PostgresPool {
  const { settings, name, size, limits = serviceLimits, isReader = false } = options;
  const client = describeClient(settings, name);
  const pool = new pg.Pool({
    ...client,
    ...(isReader ? { options: `${client.options} -c default_transaction_read_only=on` } : {}),
    ...(limits === 'none' ? {} : toConfig(limits)),
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

function toConfig({ connectMs, statementMs, answerMs }: PostgresLimits): pg.PoolConfig {
  return {
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    lock_timeout: statementMs,
    idle_in_transaction_session_timeout: answerMs,
    query_timeout: answerMs,
  };
}

const wrapped = new WeakMap<pg.PoolClient, PostgresConnection>();

// One wrapper for each client: Kysely knows its connections by identity.
function wrap(client: pg.PoolClient): PostgresConnection {
  const known = wrapped.get(client);
  if (known !== undefined) {
    return known;
  }
  let isBroken = false;
  client.on('error', () => {
    isBroken = true;
  });
  const wrapper: PostgresConnection = {
    async query<Row extends Record<string, unknown>>(
      text: string,
      parameters: readonly unknown[] = [],
    ) {
      try {
        return await client.query<Row>(text, [...parameters]);
      } catch (error) {
        const translated = toDatabaseError(error);
        // After a timeout the answer may still arrive, and the next query on this connection would receive it.
        isBroken ||= translated !== error;
        throw translated;
      }
    },
    release(destroy) {
      client.release(isBroken || destroy === true);
    },
  };
  wrapped.set(client, wrapper);
  return wrapper;
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
