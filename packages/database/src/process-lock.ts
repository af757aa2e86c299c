/**
 * One process per PostgreSQL database (docs/decisions/0010). A session of its own holds an advisory lock for the
 * life of the process. The lock can be lost with its session while this process lives. The process must then
 * send nothing, and two rules ensure it. It notices within seconds and its workers pause. Each owner of the lock has a
 * number (the epoch), which every transaction that stores signed bytes compares: a process that has not noticed yet
 * stores nothing, and what is not stored is not sent.
 *
 * @module
 */
import { setTimeout as delay } from 'node:timers/promises';
import { PoolError } from '@pool/core';
import {
  codeOf,
  describeClient,
  explainFirstFailure,
  type PostgresSettings,
  toDatabaseError,
} from '@pool/storage/postgres';
import { type QueryExecutorProvider, sql } from 'kysely';
import pg from 'pg';
import type { Logger as Log } from 'pino';

// Whether this process may use a PostgreSQL database: it is empty, or the same part of Pool made it.

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

/** A process's right to work on its database. */
export type Ownership = {
  /** False while the right is in doubt: workers pause then. */
  isHeld(): boolean;
  /**
   * Call it in each transaction that stores what is sent afterwards.
   * @throws PoolError `database_lock_lost` (503)
   */
  assertOwner(trx: QueryExecutorProvider): Promise<void>;
  /** Resolves when another process has taken over: this one must end. */
  readonly lost: Promise<PoolError>;
};

export type ProcessLock = Ownership & { release(): Promise<void> };

/** The numbers of the advisory lock: "pool", and the first lock of Pool. */
export const ownerLock: readonly [number, number] = [0x706f_6f6c, 1];

/** How long a start waits for the previous process to end, and for a server that is starting. */
const waitForOwnerMs = 5_000;
const waitForServerMs = 30_000;

const heartbeatMs = 2_000;
const heartbeatTimeoutMs = 5_000;

type Session = { readonly client: pg.Client; readonly ended: Promise<void> };

/**
 * Waits for the lock for a while, then claims the database for `part`.
 * @throws PoolError `database_locked`, `database_unavailable`, and as {@link claimStore}
 */
export async function holdProcessLock(
  settings: PostgresSettings,
  part: StorePart,
  log: Log,
): Promise<ProcessLock> {
  let session = await openFirst(settings, part, log);
  let epoch: number;
  try {
    await waitForLock(session.client);
    epoch = await claimStore(session.client, part);
  } catch (error) {
    await session.client.end();
    throw toDatabaseError(error);
  }
  const stopping = new AbortController();
  const { promise: lost, resolve: reportLost } = Promise.withResolvers<PoolError>();
  let held = true;

  async function guard(): Promise<void> {
    while (!stopping.signal.aborted) {
      await watch(session, stopping.signal);
      if (stopping.signal.aborted) {
        return;
      }
      held = false;
      log.warn('the database does not answer: nothing is sent until it does');
      await session.client.end().catch(() => undefined);
      const again = await takeAgain(settings, part, epoch, stopping.signal);
      if (again === 'taken') {
        log.fatal('another process has taken over the database: this one ends');
        reportLost(lockLost());
        return;
      }
      if (again !== undefined) {
        session = again;
        held = true;
        log.warn('the database answers again');
      }
    }
  }
  const guarding = guard();

  return {
    isHeld: () => held,
    async assertOwner(trx) {
      // The row stays locked until the transaction ends: the next owner, who changes it, waits for that.
      const owned =
        await sql`select epoch from pool_store where epoch = ${epoch} for share`.execute(trx);
      if (!held || owned.rows.length === 0) {
        throw lockLost();
      }
    },
    lost,
    async release() {
      stopping.abort();
      held = false;
      await session.client.end().catch(() => undefined);
      await guarding;
    },
  };
}

function lockLost(): PoolError {
  return new PoolError(
    'database_lock_lost',
    'this process has lost its lock on the database; another one may be at work',
  );
}

async function openSession(settings: PostgresSettings, part: StorePart): Promise<Session> {
  const client = new pg.Client({
    ...describeClient(settings, `pool-${part}-lock`),
    query_timeout: heartbeatTimeoutMs,
  });
  const ended = new Promise<void>((resolve) => {
    client.once('end', resolve);
    client.on('error', () => {
      resolve();
    });
  });
  await client.connect();
  // A machine that loses power closes no connection: the server releases the lock after half a minute.
  await client.query(
    'set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3',
  );
  return { client, ended };
}

/** @throws PoolError `database_unavailable`, which names what to check */
async function openFirst(settings: PostgresSettings, part: StorePart, log: Log): Promise<Session> {
  const deadline = performance.now() + waitForServerMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await openSession(settings, part);
    } catch (error) {
      const code = codeOf(error) ?? '';
      // The server is starting (57P03) or not reachable yet: a retry may succeed.
      const mayCome = /^(ECONN|57P03|EAI_AGAIN|ENOTFOUND|ENOENT|ETIMEDOUT)/.test(code);
      if (!mayCome || performance.now() > deadline) {
        throw new PoolError('database_unavailable', `DATABASE_URL: ${explainFirstFailure(error)}`, {
          cause: error,
        });
      }
      if (attempt === 1) {
        log.warn({ code }, 'waiting for the database');
      }
      await delay(500);
    }
  }
}

/** @throws PoolError `database_locked` */
async function waitForLock(client: pg.Client): Promise<void> {
  const deadline = performance.now() + waitForOwnerMs;
  while (!(await tryLock(client))) {
    if (performance.now() > deadline) {
      throw new PoolError(
        'database_locked',
        'another process uses this database; stop it first. One platform and one gate each have a database of their own',
      );
    }
    await delay(200);
  }
}

async function tryLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>(
    'select pg_try_advisory_lock($1, $2) as locked',
    [...ownerLock],
  );
  return rows[0]?.locked === true;
}

/** Resolves when the session is gone or does not answer. */
async function watch({ client, ended }: Session, signal: AbortSignal): Promise<void> {
  for (;;) {
    const gone = await Promise.race([
      ended.then(() => true),
      delay(heartbeatMs, false, { signal }).catch(() => true),
    ]);
    if (gone) {
      return;
    }
    try {
      await client.query('select 1');
    } catch {
      return;
    }
  }
}

/** A session that has the lock again, if no other process had it in between. Undefined when stopped. */
async function takeAgain(
  settings: PostgresSettings,
  part: StorePart,
  epoch: number,
  signal: AbortSignal,
): Promise<Session | 'taken' | undefined> {
  while (!signal.aborted) {
    let session: Session | undefined;
    try {
      session = await openSession(settings, part);
      const locked = await tryLock(session.client);
      const { rows } = await session.client.query<{ epoch: number }>(
        'select epoch from pool_store',
      );
      if (rows[0]?.epoch !== epoch) {
        await session.client.end();
        return 'taken';
      }
      if (locked) {
        return session;
      }
    } catch {
      // Still unreachable.
    }
    await session?.client.end().catch(() => undefined);
    await delay(1_000, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}
