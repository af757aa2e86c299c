/**
 * Jobs in a PostgreSQL database. Any number of processes on any number of machines share it: the server's row locks and its clock
 * decide who works on a job.
 *
 * @module
 */
import { isPoolError } from '@pool/core';
import {
  findPostgresTables,
  longestUseMs,
  openPostgresTables,
  type PostgresQuery,
  type PostgresSettings,
  type PostgresTables,
} from '@pool/storage/postgres';
import type { FencedName, JobName, JobStore, JobSummary, StoredJob } from './job-store.ts';
import { markLength, movedMark, readMarks, stageMark } from './payload-marks.ts';
import {
  assertOwn,
  closedError,
  StoreError,
  staleFenceError,
  unknownJobError,
} from './store-error.ts';

/** Times are milliseconds since 1970. */
const migrations: readonly (readonly string[])[] = [
  [
    `create table job (
      id bigint generated always as identity primary key,
      scope text not null,
      key text not null,
      fingerprint text not null,
      state text not null,
      payload text not null,
      fence bigint not null default 0,
      worker text,
      lease_until_ms bigint,
      erased boolean not null default false,
      created_at_ms bigint not null,
      updated_at_ms bigint not null,
      unique (scope, key))`,
    'create index job_by_state on job (state, created_at_ms, id)',
    `create table job_value (
      job_id bigint not null references job (id),
      name text not null,
      value text not null,
      primary key (job_id, name))`,
  ],
  ['create index job_by_change on job (scope, updated_at_ms)'],
  ['create index job_by_creation on job (created_at_ms, id)'],
];

/** The caller's time, if there is one, else the server's when the statement runs. In milliseconds. */
const leaseTime = 'coalesce($1::bigint, (extract(epoch from clock_timestamp()) * 1000)::bigint)';

type Row = {
  readonly id: number;
  readonly scope: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly state: string;
  readonly payload: string;
  readonly fence: number;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
};

export type PostgresStoreOptions = {
  readonly settings: PostgresSettings;
  /** A server that may lose what it has acknowledged is refused. */
  readonly mustBeDurable?: boolean;
  /**
   * Whose clock decides when a lease ends. `server`, the default, for machines whose clocks differ. `caller`: the `nowMs` of each call,
   * for the tests that every store passes.
   */
  readonly leaseClock?: 'server' | 'caller';
};

/** @throws StoreError `store_busy` (the server does not answer), PoolError `database_refused` */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<JobStore> {
  const tables = await openPostgresTables(describeTables(options)).catch(rethrowBusy);
  return createStore(tables, options);
}

/**
 * For a command that only reads. Makes and changes nothing.
 * @returns undefined if no agent has used the database
 * @throws as {@link openPostgresStore}
 */
export async function findPostgresStore(
  options: PostgresStoreOptions,
): Promise<JobStore | undefined> {
  const tables = await findPostgresTables(describeTables(options), 'read').catch(rethrowBusy);
  return tables && createStore(tables, options);
}

function describeTables({ settings, mustBeDurable = false }: PostgresStoreOptions) {
  return { settings, name: 'job', size: 8, migrations, mustBeDurable };
}

function createStore(
  tables: PostgresTables,
  { leaseClock = 'server' }: Pick<PostgresStoreOptions, 'leaseClock'>,
): JobStore {
  const callerTime = (nowMs: number): number | null => (leaseClock === 'caller' ? nowMs : null);
  let isClosed = false;

  function assertOpen(): void {
    if (isClosed) {
      throw closedError();
    }
  }

  async function use<T>(work: (query: PostgresQuery) => Promise<T>): Promise<T> {
    assertOpen();
    return await tables.use(work).catch(rethrowBusy);
  }

  async function inTransaction<T>(work: (query: PostgresQuery) => Promise<T>): Promise<T> {
    assertOpen();
    return await tables.inTransaction(work).catch(rethrowBusy);
  }

  const first = async (text: string, ...parameters: readonly unknown[]): Promise<Row | undefined> =>
    await use(async (query) => (await query<Row>(text, parameters)).rows[0]);

  async function list(text: string, ...parameters: readonly unknown[]): Promise<readonly Row[]> {
    return await use(async (query) => (await query<Row>(text, parameters)).rows);
  }

  /** The job, locked until the transaction ends. @throws StoreError `unknown_job` */
  async function lock(query: PostgresQuery, { scope, key }: JobName): Promise<Row> {
    const { rows } = await query<Row>(
      'select * from job where scope = $1 and key = $2 for update',
      [scope, key],
    );
    const [row] = rows;
    if (row === undefined) {
      throw unknownJobError();
    }
    return row;
  }

  /** Writes the value unless the name has one. Returns the stored value. */
  async function putValue(
    query: PostgresQuery,
    job: Row,
    { name, value }: { readonly name: string; readonly value: string },
  ): Promise<string> {
    await query(
      'insert into job_value (job_id, name, value) values ($1, $2, $3) on conflict do nothing',
      [job.id, name, value],
    );
    const { rows } = await query<{ value: string }>(
      'select value from job_value where job_id = $1 and name = $2',
      [job.id, name],
    );
    return rows[0]?.value ?? value;
  }

  /** A write that found no row with its fence: why. */
  async function explain(name: FencedName): Promise<StoreError> {
    const row = await first(
      'select * from job where scope = $1 and key = $2',
      name.scope,
      name.key,
    );
    return row === undefined ? unknownJobError() : staleFenceError();
  }

  return {
    longestWaitMs: longestUseMs,

    async claim(input) {
      const { scope, key, fingerprint, state, payload, nowMs } = input;
      const created = await first(
        `insert into job (scope, key, fingerprint, state, payload, created_at_ms, updated_at_ms)
         values ($1, $2, $3, $4, $5, $6, $6) on conflict (scope, key) do nothing returning *`,
        ...[scope, key, fingerprint, state, payload, nowMs],
      );
      if (created !== undefined) {
        return { outcome: 'created', job: toJob(created) };
      }
      const known = await first('select * from job where scope = $1 and key = $2', scope, key);
      if (known === undefined) {
        throw unknownJobError();
      }
      const outcome = known.fingerprint === fingerprint ? 'existing' : 'conflict';
      return { outcome, job: toJob(known) };
    },

    async get(scope, key) {
      const row = await first('select * from job where scope = $1 and key = $2', scope, key);
      return row === undefined ? undefined : toJob(row);
    },

    async lease(input) {
      const { workerId, states, scope = null, key = null, except = [], ttlMs, nowMs } = input;
      // A job that another process is leasing at this moment is skipped, not waited for.
      const row = await first(
        `update job set fence = fence + 1, worker = $2, lease_until_ms = ${leaseTime} + $3
         where id = (
           select id from job
           where state = any($4::text[]) and ($5::text is null or scope = $5)
             and ($6::text is null or key = $6) and key <> all($7::text[])
             and (lease_until_ms is null or lease_until_ms <= ${leaseTime})
           order by created_at_ms, id limit 1 for update skip locked)
         returning *`,
        ...[callerTime(nowMs), workerId, ttlMs, states, scope, key, except],
      );
      return row === undefined ? undefined : { job: toJob(row), fence: row.fence };
    },

    async renew({ scope, key, fence, ttlMs, nowMs }) {
      const row = await first(
        `update job set lease_until_ms = ${leaseTime} + $2
         where scope = $3 and key = $4 and fence = $5 and lease_until_ms is not null returning id`,
        ...[callerTime(nowMs), ttlMs, scope, key, fence],
      );
      return row !== undefined;
    },

    async release({ scope, key, fence }) {
      await first(
        `update job set fence = fence + 1, worker = null, lease_until_ms = null
         where scope = $1 and key = $2 and fence = $3 and lease_until_ms is not null`,
        ...[scope, key, fence],
      );
    },

    async update(input) {
      const { scope, key, fence, state, payload, nowMs } = input;
      const row = await first(
        `update job set state = $4, payload = $5, updated_at_ms = $6
         where scope = $1 and key = $2 and fence = $3 returning *`,
        ...[scope, key, fence, state, payload, nowMs],
      );
      if (row === undefined) {
        throw await explain(input);
      }
      return toJob(row);
    },

    async putOnce(input) {
      return await inTransaction(async (query) => {
        const job = await lock(query, input);
        if (job.fence !== input.fence) {
          throw staleFenceError();
        }
        return await putValue(query, job, input);
      });
    },

    async ask(input) {
      return await inTransaction(async (query) => putValue(query, await lock(query, input), input));
    },

    async getValue(scope, key, name) {
      return await use(async (query) => {
        const { rows } = await query<{ value: string }>(
          `select value from job_value join job on job.id = job_id
           where scope = $1 and key = $2 and name = $3`,
          [scope, key, name],
        );
        return rows[0]?.value;
      });
    },

    async erase(input) {
      const { names, payload } = input;
      await inTransaction(async (query) => {
        const { id } = await lock(query, input);
        await query('update job set payload = $2, erased = true where id = $1', [id, payload]);
        await query('delete from job_value where job_id = $1 and name = any($2::text[])', [
          id,
          names,
        ]);
      });
    },

    async listNames() {
      const { rows } = await use((query) =>
        query<JobName>(
          "select scope, key from job where scope not like ':%' order by created_at_ms, id",
        ),
      );
      return rows;
    },

    async listNewest(input) {
      const { states, keys, contains = [], createdFromMs, createdBeforeMs, after, limit } = input;
      const rows = await list(
        `select * from job
         where scope not like ':%'
           and ($1::text[] is null or state = any($1))
           and ($2::text[] is null or key = any($2))
           and created_at_ms >= coalesce($3::bigint, 0)
           and created_at_ms < coalesce($4::bigint, 9223372036854775807)
           and ($5::text is null or (created_at_ms, id) <
                 (select created_at_ms, id from job where scope = $5 and key = $6))
           and (select coalesce(bool_and(strpos(payload, text) > 0), true) from unnest($7::text[]) as text)
         order by created_at_ms desc, id desc limit $8`,
        ...[states ?? null, keys ?? null, createdFromMs ?? null, createdBeforeMs ?? null],
        ...[after?.scope ?? null, after?.key ?? null, contains, limit],
      );
      return rows.map(toJob);
    },

    async listChanged({ scope, sinceMs }) {
      const rows = await list(
        `select id, scope, key, fingerprint, state, fence, created_at_ms, updated_at_ms from job
         where scope = $1 and updated_at_ms >= $2 order by updated_at_ms, id`,
        ...[scope, sinceMs],
      );
      return rows.map(toSummary);
    },

    async listUnfinished(states) {
      const part = (at: number): string =>
        `coalesce(substr(payload, nullif(strpos(payload, $${at}), 0), $4), '')`;
      const { rows } = await use((query) =>
        query<{ marks: string; created_at_ms: number }>(
          `select ${part(2)} || ${part(3)} as marks, created_at_ms from job
           where state = any($1::text[]) and scope not like ':%'`,
          [states, stageMark, movedMark, markLength],
        ),
      );
      return rows.map((row) => readMarks(row.marks, row.created_at_ms));
    },

    async deleteOwn({ scope, states, updatedBeforeMs, limit, nowMs }) {
      assertOwn(scope);
      return await inTransaction(async (query) => {
        const { rows } = await query<{ id: number }>(
          `select id from job
           where scope = $2 and updated_at_ms < $3 and state = any($4::text[])
             and (lease_until_ms is null or lease_until_ms <= ${leaseTime})
           order by updated_at_ms, id limit $5 for update skip locked`,
          [callerTime(nowMs), scope, updatedBeforeMs, states, limit],
        );
        const ids = rows.map(({ id }) => id);
        await query('delete from job_value where job_id = any($1::bigint[])', [ids]);
        await query('delete from job where id = any($1::bigint[])', [ids]);
        return ids.length;
      });
    },

    async listErasable({ states, updatedBeforeMs, skip = 0, limit }) {
      const rows = await list(
        `select * from job where not erased and state = any($1::text[]) and updated_at_ms < $2
           and scope not like ':%'
         order by updated_at_ms, id limit $3 offset $4`,
        ...[states, updatedBeforeMs, limit, skip],
      );
      return rows.map(toJob);
    },

    async close() {
      isClosed = true;
      await tables.close();
    },
  };
}

/** @throws StoreError `store_busy` for `database_unavailable`; otherwise the error */
function rethrowBusy(cause: unknown): never {
  throw isPoolError(cause) && cause.code === 'database_unavailable'
    ? new StoreError('store_busy', `the job store is not available: ${cause.message}`, cause)
    : cause;
}

function toJob(row: Row): StoredJob {
  return { ...toSummary(row), payload: row.payload };
}

function toSummary(row: Omit<Row, 'payload'>): JobSummary {
  const { scope, key, fingerprint, state, fence } = row;
  const times = { createdAtMs: row.created_at_ms, updatedAtMs: row.updated_at_ms };
  return { scope, key, fingerprint, state, fence, ...times };
}
