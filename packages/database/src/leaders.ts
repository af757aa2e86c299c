/**
 * Any number of processes use one PostgreSQL database, and one of them leads each role (docs/decisions/0018). A session of its own holds
 * an advisory lock for each role that the process leads. It can be lost with its session while the process lives, and the process must
 * then write nothing. So each term of a leader has a number, its epoch, which the lock's next holder raises, and each transaction of a
 * leader compares: a process that has not noticed yet stores nothing, and what is not stored is not sent.
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
import { type Kysely, type QueryExecutorProvider, sql } from 'kysely';
import pg from 'pg';
import type { Logger as Log } from 'pino';

// Whether this process may use a PostgreSQL database: it is empty, or the same part of Pool made it.

export type StorePart = 'platform' | 'gate';

/** The oldest release that the tests cover. */
const oldestServer = 150_000;

/**
 * Marks an empty database as the part's.
 * @throws PoolError `database_refused`
 */
async function claimStore(client: pg.Client, part: StorePart): Promise<void> {
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
        part text not null)`,
    );
  }
  await client.query('insert into pool_store (part) values ($1) on conflict do nothing', [part]);
  const { rows } = await client.query<{ part: string }>('select part from pool_store');
  const other = rows[0]?.part;
  if (other !== part) {
    throw new PoolError(
      'database_refused',
      `DATABASE_URL: this is the database of a ${other}; the ${part} needs one of its own (the same server may hold both)`,
    );
  }
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

/** The lock of starts: "pool", and the first lock of Pool. */
const startLock = 'select pg_advisory_lock(1886351212, 1)';

/**
 * Claims the database for `part` and prepares it, while no other process does.
 * @throws PoolError `database_unavailable`, which names what to check, `database_refused`, and as `prepare`
 */
export async function prepareStore(
  settings: PostgresSettings,
  part: StorePart,
  prepare: () => Promise<void>,
  log: Log,
): Promise<void> {
  const { client } = await openFirst(settings, part, log);
  try {
    await client.query(startLock);
    await claimStore(client, part);
    await prepare();
  } catch (error) {
    throw toDatabaseError(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The time in which a process leads a role. */
export type Term = {
  /** Its number: no other term of the role has it. */
  readonly epoch: number;
  /**
   * Call it in each transaction that a leader writes.
   * @throws PoolError `database_lock_lost` (503)
   */
  assertLeader(trx: QueryExecutorProvider): Promise<void>;
};

/**
 * Everything that a leader writes is written through this: what one that no longer leads writes is undone.
 * @param leader.assertLeader - of its term. Absent: an embedded database, whose process leads
 */
export async function writeAsLeader<Tables, T>(
  { db, assertLeader }: { db: Kysely<Tables>; assertLeader?: Term['assertLeader'] | undefined },
  work: (trx: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  return await db.transaction().execute(async (trx) => {
    await assertLeader?.(trx);
    return await work(trx);
  });
}

/** A process's right to work on its database. */
export type Leaders = {
  /** Whether the database answers, as of the last seconds. */
  isAnswering(): boolean;
  /** The term of this process. From the first call on it stands for the role. Undefined: another process leads it, or nobody yet. */
  term(role: string): Term | undefined;
  /** Another process may lead the role: the term ends soon, unless it is asked for before. */
  leave(role: string): void;
};

/** By the database's clock, which all of its processes share, in milliseconds of Unix time. */
type SharedClock = { nowMs(): number };

/** Smaller differences are the time that the question took. */
const clockErrorMs = 100;

/** The embedded database has one process, which leads every role. */
export const soleLeader: Leaders = {
  isAnswering: () => true,
  term: () => ({ epoch: 0, assertLeader: () => Promise.resolve() }),
  leave: () => undefined,
};

/** How long a start waits for a server that is starting. */
const waitForServerMs = 30_000;

/** How often the process asks for the roles that it does not lead, and whether the server answers. */
const roundMs = 1_000;
const answerMs = 5_000;

type Session = { readonly client: pg.Client; readonly ended: Promise<void> };

export type LeaderSession = Leaders & SharedClock & { close(): Promise<void> };

/**
 * @param settings - of a database that {@link prepareStore} has prepared, with a table `leaders`
 * @throws PoolError `database_unavailable`
 */
export async function openLeaders(
  settings: PostgresSettings,
  part: StorePart,
  log: Log,
): Promise<LeaderSession> {
  const roles = new Set<string>();
  /** The epoch of each role that is held. */
  const held = new Map<string, number>();
  const stopping = new AbortController();
  let session: Session | undefined;
  let isAnswering = true;
  let aheadMs = 0;
  let wake = Promise.withResolvers<undefined>();

  async function beginSession(): Promise<Session> {
    const begun = await openSession(settings, part, answerMs);
    // The next query finds that it ended.
    void begun.ended.then(() => {
      if (session === begun) {
        wake.resolve(undefined);
      }
    });
    return begun;
  }

  async function playRound(): Promise<void> {
    session ??= await beginSession();
    const { client } = session;
    for (const role of held.keys()) {
      if (!roles.has(role)) {
        // First: whoever is in the middle of a write finds that its term is over.
        held.delete(role);
        await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [role]);
      }
    }
    for (const role of roles) {
      if (!held.has(role)) {
        const epoch = await takeRole(client, role);
        if (epoch !== undefined) {
          held.set(role, epoch);
          log.info({ role, epoch }, 'this process leads');
        }
      }
    }
    const ahead = await readAheadMs(client);
    if (Math.abs(ahead - aheadMs) > clockErrorMs) {
      aheadMs = ahead;
    }
    if (!isAnswering) {
      isAnswering = true;
      log.warn('the database answers again');
    }
  }

  async function loseSession(): Promise<void> {
    // First: whoever is in the middle of a write finds that its term is over.
    held.clear();
    isAnswering = false;
    if (session !== undefined) {
      log.warn('the database does not answer: this process leads nothing until it does');
      const { client } = session;
      session = undefined;
      await client.end().catch(() => undefined);
    }
    // A database that ends each session is asked once in a round.
    wake = Promise.withResolvers<undefined>();
  }

  async function run(): Promise<void> {
    const { signal } = stopping;
    while (!signal.aborted) {
      try {
        await playRound();
      } catch {
        await loseSession();
      }
      await Promise.race([
        wake.promise,
        delay(roundMs, undefined, { signal }).catch(() => undefined),
      ]);
      wake = Promise.withResolvers<undefined>();
    }
  }
  try {
    await playRound();
  } catch (error) {
    await loseSession();
    throw toDatabaseError(error);
  }
  const running = run();

  return {
    isAnswering: () => isAnswering,
    nowMs: () => Date.now() + aheadMs,
    term(role) {
      if (!roles.has(role)) {
        roles.add(role);
        wake.resolve(undefined);
      }
      const epoch = held.get(role);
      return epoch === undefined
        ? undefined
        : {
            epoch,
            async assertLeader(trx) {
              // The row stays locked until the transaction ends: the next leader, who changes it, waits for that.
              const led =
                await sql`select 1 from leaders where role = ${role} and epoch = ${epoch} for share`.execute(
                  trx,
                );
              if (held.get(role) !== epoch || led.rows.length === 0) {
                throw new PoolError(
                  'database_lock_lost',
                  'this process no longer leads: another one may be at work',
                );
              }
            },
          };
    },
    leave(role) {
      if (roles.delete(role)) {
        wake.resolve(undefined);
      }
    },
    async close() {
      stopping.abort();
      held.clear();
      await session?.client.end().catch(() => undefined);
      await running;
      await session?.client.end().catch(() => undefined);
    },
  };
}

/** How far the database's clock is ahead of this machine's. */
async function readAheadMs(client: pg.Client): Promise<number> {
  const before = Date.now();
  const { rows } = await client.query<{ now: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::double precision as now',
  );
  return (rows[0]?.now ?? before) - (before + Date.now()) / 2;
}

/** @returns the number of the new term; undefined: another session leads the role */
async function takeRole(client: pg.Client, role: string): Promise<number | undefined> {
  const { rows } = await client.query<{ locked: boolean }>(
    'select pg_try_advisory_lock(hashtextextended($1, 0)) as locked',
    [role],
  );
  if (rows[0]?.locked !== true) {
    return undefined;
  }
  // It waits for the transactions of the leader before.
  const raised = await client.query<{ epoch: number }>(
    `insert into leaders (role, epoch) values ($1, 1)
      on conflict (role) do update set epoch = leaders.epoch + 1 returning epoch`,
    [role],
  );
  return raised.rows[0]?.epoch;
}

async function openSession(
  settings: PostgresSettings,
  part: StorePart,
  timeoutMs: number,
): Promise<Session> {
  const base = describeClient(settings, `pool-${part}-leader`);
  const client = new pg.Client({
    ...base,
    // A machine that loses power closes no connection: the server releases the lock after half a minute.
    options: `${base.options} -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3`,
    query_timeout: timeoutMs,
  });
  const ended = new Promise<void>((resolve) => {
    client.once('end', resolve);
    client.on('error', () => {
      resolve();
    });
  });
  await client.connect();
  return { client, ended };
}

/** Long enough for the migrations of another process that starts. */
const startTimeoutMs = 120_000;

/** @throws PoolError `database_unavailable`, which names what to check */
async function openFirst(settings: PostgresSettings, part: StorePart, log: Log): Promise<Session> {
  const deadline = performance.now() + waitForServerMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await openSession(settings, part, startTimeoutMs);
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
