/**
 * Jobs in one SQLite file. They survive crashes and power failures, and several processes on one machine may share the file.
 *
 * @module
 */
import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { FencedName, JobName, JobStore, JobSummary, StoredJob } from './job-store.ts';
import { markLength, movedMark, readMarks, stageMark } from './payload-marks.ts';
import { openDatabase, runInTransaction } from './sqlite-database.ts';
import {
  assertOwn,
  closedError,
  StoreError,
  staleFenceError,
  unknownJobError,
} from './store-error.ts';

type Row = Record<string, SQLOutputValue>;

/**
 * How long a statement waits by default for the transaction of another process. The wait blocks the thread and also delays
 * renewals of leases, so it is far shorter than a lease.
 */
const defaultBusyTimeoutMs = 1_500;

/**
 * @param options.path - the database file. If missing, it is created with mode 0600 in a folder of mode 0700
 * @param options.busyTimeoutMs - how long a call waits for another process. Default: 1.5 s
 */
export function createSqliteStore(options: {
  readonly path: string;
  readonly busyTimeoutMs?: number;
}): JobStore {
  const { path, busyTimeoutMs = defaultBusyTimeoutMs } = options;
  const database = openDatabase(path, busyTimeoutMs);

  function first(sql: string, ...parameters: SQLInputValue[]): Row | undefined {
    if (!database.isOpen) {
      throw closedError();
    }
    return database.prepare(sql).get(...parameters);
  }

  function write<T>(work: () => T): T {
    if (!database.isOpen) {
      throw closedError();
    }
    return runInTransaction(database, work);
  }

  const selectJob = ({ scope, key }: JobName): Row | undefined =>
    first('SELECT * FROM job WHERE scope = ? AND key = ?', scope, key);

  function selectKnown(name: JobName): Row {
    const row = selectJob(name);
    if (row === undefined) {
      throw unknownJobError();
    }
    return row;
  }

  /** Writes the value unless the name has one. Returns the stored value. */
  function putValue(job: Row, { name, value }: { name: string; value: string }): string {
    const id = numberIn(job, 'id');
    first(
      'INSERT INTO value (job_id, name, value) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING name',
      ...[id, name, value],
    );
    return textIn(
      first('SELECT value FROM value WHERE job_id = ? AND name = ?', id, name),
      'value',
    );
  }

  function selectFenced(name: FencedName): Row {
    const row = selectKnown(name);
    if (row['fence'] !== name.fence) {
      throw staleFenceError();
    }
    return row;
  }

  return {
    longestWaitMs: busyTimeoutMs,

    async claim(input) {
      const { scope, key, fingerprint, state, payload, nowMs } = input;
      return write(() => {
        const known = selectJob(input);
        if (known !== undefined) {
          const same = known['fingerprint'] === fingerprint;
          return { outcome: same ? 'existing' : 'conflict', job: parseRow(known) };
        }
        const row = first(
          `INSERT INTO job (scope, key, fingerprint, state, payload, fence, created_at_ms, updated_at_ms)
           VALUES (?, ?, ?, ?, ?, 0, ?, ?) RETURNING *`,
          ...[scope, key, fingerprint, state, payload, nowMs, nowMs],
        );
        return { outcome: 'created', job: parseRow(row) };
      });
    },

    async get(scope, key) {
      const row = selectJob({ scope, key });
      return row === undefined ? undefined : parseRow(row);
    },

    async lease(input) {
      const { workerId, states, scope, key, except = [], ttlMs, nowMs } = input;
      if (states.length === 0) {
        return undefined;
      }
      const row = write(() =>
        first(
          `UPDATE job SET fence = fence + 1, worker = ?, lease_until_ms = ? WHERE id = (
             SELECT id FROM job
             WHERE state IN (${states.map(() => '?').join(', ')})
               AND (? IS NULL OR scope = ?)
               AND (? IS NULL OR key = ?)
               AND key NOT IN (SELECT value FROM json_each(?))
               AND (lease_until_ms IS NULL OR lease_until_ms <= ?)
             ORDER BY created_at_ms, id LIMIT 1
           ) RETURNING *`,
          ...[workerId, nowMs + ttlMs, ...states],
          ...[scope ?? null, scope ?? null, key ?? null, key ?? null],
          ...[JSON.stringify(except), nowMs],
        ),
      );
      if (row === undefined) {
        return undefined;
      }
      const job = parseRow(row);
      return { job, fence: job.fence };
    },

    async renew({ scope, key, fence, ttlMs, nowMs }) {
      const row = write(() =>
        first(
          `UPDATE job SET lease_until_ms = ?
           WHERE scope = ? AND key = ? AND fence = ? AND lease_until_ms IS NOT NULL RETURNING id`,
          ...[nowMs + ttlMs, scope, key, fence],
        ),
      );
      return row !== undefined;
    },

    async release({ scope, key, fence }) {
      write(() =>
        first(
          `UPDATE job SET fence = fence + 1, worker = NULL, lease_until_ms = NULL
           WHERE scope = ? AND key = ? AND fence = ? AND lease_until_ms IS NOT NULL RETURNING id`,
          ...[scope, key, fence],
        ),
      );
    },

    async update(input) {
      return write(() => {
        const { state, payload, nowMs } = input;
        const id = numberIn(selectFenced(input), 'id');
        return parseRow(
          first(
            'UPDATE job SET state = ?, payload = ?, updated_at_ms = ? WHERE id = ? RETURNING *',
            ...[state, payload, nowMs, id],
          ),
        );
      });
    },

    async putOnce(input) {
      return write(() => putValue(selectFenced(input), input));
    },

    async ask(input) {
      return write(() => putValue(selectKnown(input), input));
    },

    async getValue(scope, key, name) {
      const row = first(
        `SELECT value.value FROM value JOIN job ON job.id = value.job_id
         WHERE job.scope = ? AND job.key = ? AND value.name = ?`,
        ...[scope, key, name],
      );
      return row === undefined ? undefined : textIn(row, 'value');
    },

    async erase(input) {
      write(() => {
        const id = numberIn(selectKnown(input), 'id');
        database
          .prepare('UPDATE job SET payload = ?, erased = 1 WHERE id = ?')
          .run(input.payload, id);
        const deletion = database.prepare('DELETE FROM value WHERE job_id = ? AND name = ?');
        for (const name of input.names) {
          deletion.run(id, name);
        }
      });
      // Old pages also stay in the write-ahead log until it is truncated. If another process reads from the log now, a later
      // checkpoint overwrites them.
      first('PRAGMA wal_checkpoint(TRUNCATE)');
    },

    async listNames() {
      if (!database.isOpen) {
        throw closedError();
      }
      return database
        .prepare("SELECT scope, key FROM job WHERE scope NOT LIKE ':%' ORDER BY created_at_ms, id")
        .all()
        .map((row) => ({ scope: textIn(row, 'scope'), key: textIn(row, 'key') }));
    },

    async listNewest(input) {
      if (!database.isOpen) {
        throw closedError();
      }
      const { states, keys, contains = [], createdFromMs, createdBeforeMs, after, limit } = input;
      const conditions: readonly (readonly [string, ...SQLInputValue[]])[] = [
        ["scope NOT LIKE ':%'"],
        ...[['state', states] as const, ['key', keys] as const].flatMap(([column, list]) =>
          list === undefined
            ? []
            : // The plus: by time, and not by state, so that nothing is sorted.
              [[`+${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(list)] as const],
        ),
        ...(createdFromMs === undefined ? [] : [['created_at_ms >= ?', createdFromMs] as const]),
        ...(createdBeforeMs === undefined ? [] : [['created_at_ms < ?', createdBeforeMs] as const]),
        ...(after === undefined
          ? []
          : [
              [
                '(created_at_ms, id) < (SELECT created_at_ms, id FROM job WHERE scope = ? AND key = ?)',
                ...[after.scope, after.key],
              ] as const,
            ]),
        ...contains.map((text) => ['instr(payload, ?) > 0', text] as const),
      ];
      return database
        .prepare(
          `SELECT * FROM job WHERE ${conditions.map(([sql]) => sql).join(' AND ')}
           ORDER BY created_at_ms DESC, id DESC LIMIT ?`,
        )
        .all(...conditions.flatMap(([, ...values]) => values), limit)
        .map(parseRow);
    },

    async listChanged({ scope, sinceMs }) {
      if (!database.isOpen) {
        throw closedError();
      }
      return database
        .prepare(
          `SELECT scope, key, fingerprint, state, fence, created_at_ms, updated_at_ms FROM job
           WHERE scope = ? AND updated_at_ms >= ? ORDER BY updated_at_ms, id`,
        )
        .all(scope, sinceMs)
        .map(parseSummary);
    },

    async listUnfinished(states) {
      if (!database.isOpen) {
        throw closedError();
      }
      const part = 'substr(payload, nullif(instr(payload, ?), 0), ?)';
      return database
        .prepare(
          `SELECT coalesce(${part}, '') || coalesce(${part}, '') AS marks, created_at_ms FROM job
           WHERE state IN (${states.map(() => '?').join(', ')}) AND scope NOT LIKE ':%'`,
        )
        .all(stageMark, markLength, movedMark, markLength, ...states)
        .map((row) => readMarks(textIn(row, 'marks'), numberIn(row, 'created_at_ms')));
    },

    async deleteOwn({ scope, states, updatedBeforeMs, limit, nowMs }) {
      assertOwn(scope);
      return write(() => {
        const due = database
          .prepare(
            `SELECT id FROM job
             WHERE scope = ? AND updated_at_ms < ? AND state IN (${states.map(() => '?').join(', ')})
               AND (lease_until_ms IS NULL OR lease_until_ms <= ?)
             ORDER BY updated_at_ms, id LIMIT ?`,
          )
          .all(scope, updatedBeforeMs, ...states, nowMs, limit);
        const [values, job] = ['value WHERE job_id', 'job WHERE id'].map((where) =>
          database.prepare(`DELETE FROM ${where} = ?`),
        );
        for (const row of due) {
          values?.run(numberIn(row, 'id'));
          job?.run(numberIn(row, 'id'));
        }
        return due.length;
      });
    },

    async listErasable(input) {
      if (!database.isOpen) {
        throw closedError();
      }
      const { states, updatedBeforeMs, skip = 0, limit } = input;
      return database
        .prepare(
          `SELECT * FROM job
           WHERE erased = 0 AND state IN (${states.map(() => '?').join(', ')}) AND updated_at_ms < ?
             AND scope NOT LIKE ':%'
           ORDER BY updated_at_ms, id LIMIT ? OFFSET ?`,
        )
        .all(...states, updatedBeforeMs, limit, skip)
        .map(parseRow);
    },

    async close() {
      if (database.isOpen) {
        database.close();
      }
    },
  };
}

function parseRow(row: Row | undefined): StoredJob {
  return { ...parseSummary(row), payload: textIn(row, 'payload') };
}

function parseSummary(row: Row | undefined): JobSummary {
  return {
    scope: textIn(row, 'scope'),
    key: textIn(row, 'key'),
    fingerprint: textIn(row, 'fingerprint'),
    state: textIn(row, 'state'),
    fence: numberIn(row, 'fence'),
    createdAtMs: numberIn(row, 'created_at_ms'),
    updatedAtMs: numberIn(row, 'updated_at_ms'),
  };
}

function textIn(row: Row | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value !== 'string') {
    throw new StoreError('invalid_store', `the job store's column ${column} does not hold text`);
  }
  return value;
}

function numberIn(row: Row | undefined, column: string): number {
  const value = row?.[column];
  if (typeof value !== 'number') {
    throw new StoreError(
      'invalid_store',
      `the job store's column ${column} does not hold a number`,
    );
  }
  return value;
}
