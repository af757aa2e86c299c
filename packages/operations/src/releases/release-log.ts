/**
 * The release log of an agent: beside its jobs on a server, else in a file of its directory. It holds the signed words of people, so they
 * survive the process, and its entries follow from each other (`@pool/policy`).
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isPoolError, PoolError } from '@pool/core';
import { findJobServer, type JobStorePlace } from '@pool/idempotency';
import { chainEntry, type NewReleaseEntry, type ReleaseEntry } from '@pool/policy';
import { openPrivateDatabase } from '@pool/storage';
import {
  findPostgresTables,
  openPostgresTables,
  type PostgresSettings,
  type PostgresTables,
} from '@pool/storage/postgres';

/** Every function throws PoolError `store_damaged`, `disk_full` or `database_unavailable`. Without the log nothing is signed. */
export type ReleaseLog = {
  /**
   * Appends an entry. Two writers run one after the other. It is on disk when it resolves.
   * @param id - the entry exists once, whoever appends it again
   * @returns the entry as it is stored
   */
  append(entry: NewReleaseEntry, id: string): Promise<ReleaseEntry>;
  /** Of one batch, oldest first. */
  listOf(key: string): Promise<readonly ReleaseEntry[]>;
  /** Oldest first. @param sinceMs - default: all */
  listSince(sinceMs?: number): Promise<readonly ReleaseEntry[]>;
  close(): Promise<void>;
};

type Row = { readonly number: number; readonly id: string; readonly key: string } & {
  readonly atMs: number;
  readonly entry: string;
};

/** What both databases do. Texts are entries as JSON. */
type LogTable = {
  find(id: string): Promise<string | undefined>;
  last(): Promise<string | undefined>;
  /** @returns false if the number or the id is taken */
  insert(row: Row): Promise<boolean>;
  list(key: string | undefined, sinceMs: number): Promise<readonly string[]>;
  close(): Promise<void>;
};

const fileName = 'release-log.sqlite';

/** Writers that may be faster, one after the other. */
const maxTries = 100;

type ReleaseLogPlace = { readonly home: string; readonly jobs: JobStorePlace };

export async function openReleaseLog(place: ReleaseLogPlace): Promise<ReleaseLog> {
  const settings = findJobServer(place.jobs);
  return createLog(
    settings === undefined
      ? openFile(join(place.home, fileName))
      : await openServer(settings, place.jobs),
  );
}

/** The log for a command that only reads. Makes nothing. @returns undefined: no process has written one */
export async function findReleaseLog(
  place: ReleaseLogPlace,
): Promise<Pick<ReleaseLog, 'listSince' | 'close'> | undefined> {
  const settings = findJobServer(place.jobs);
  if (settings !== undefined) {
    const options = createServerOptions(settings, place.jobs);
    const tables = await findPostgresTables(options, 'read').catch(rethrow);
    return tables && createLog(createServerTable(tables));
  }
  const path = join(place.home, fileName);
  return existsSync(path) ? createLog(openFile(path)) : undefined;
}

function createLog(table: LogTable): ReleaseLog {
  return {
    async append(entry, id) {
      for (let tries = 0; tries < maxTries; tries += 1) {
        const stored = await table.find(id);
        if (stored !== undefined) {
          return parseEntry(stored);
        }
        const last = await table.last();
        const next = chainEntry(entry, last === undefined ? undefined : parseEntry(last));
        const row = { id, number: next.number, key: next.key, atMs: Date.parse(next.at) };
        if (await table.insert({ ...row, entry: JSON.stringify(next) })) {
          return next;
        }
      }
      throw new PoolError(
        'database_unavailable',
        'others keep writing the release log; try again',
        { retryable: true },
      );
    },
    listOf: async (key) => (await table.list(key, 0)).map(parseEntry),
    listSince: async (sinceMs = 0) => (await table.list(undefined, sinceMs)).map(parseEntry),
    close: () => table.close(),
  };
}

function parseEntry(text: string): ReleaseEntry {
  try {
    // Written by this module. `release verify` checks it.
    return JSON.parse(text) as ReleaseEntry;
  } catch {
    throw new PoolError(
      'store_damaged',
      'the release log is damaged; restore it from a backup, and nothing is signed until then',
    );
  }
}

function openFile(path: string): LogTable {
  const { database } = openPrivateDatabase(
    path,
    `CREATE TABLE IF NOT EXISTS release_log (
      number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, key TEXT NOT NULL, at_ms INTEGER NOT NULL, entry TEXT NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS release_log_key ON release_log (key);`,
  );
  const find = database.prepare('SELECT entry FROM release_log WHERE id = ?');
  const last = database.prepare('SELECT entry FROM release_log ORDER BY number DESC LIMIT 1');
  const insert = database.prepare('INSERT OR IGNORE INTO release_log VALUES (?, ?, ?, ?, ?)');
  const list = database.prepare(
    'SELECT entry FROM release_log WHERE (? IS NULL OR key = ?) AND at_ms >= ? ORDER BY number',
  );
  const textOf = (row: Readonly<Record<string, unknown>> | undefined): string | undefined =>
    row === undefined ? undefined : String(row['entry']);
  return {
    find: async (id) => textOf(find.get(id)),
    last: async () => textOf(last.get()),
    insert: async ({ number, id, key, atMs, entry }) =>
      Number(insert.run(number, id, key, atMs, entry).changes) === 1,
    list: async (key = undefined, sinceMs) =>
      list.all(key ?? null, key ?? null, sinceMs).map((row) => String(row['entry'])),
    close: async () => database.close(),
  };
}

const migrations = [
  [
    `create table release_log (
      number integer primary key,
      id text not null unique,
      key text not null,
      at_ms bigint not null,
      entry text not null)`,
    'create index release_log_key on release_log (key)',
  ],
];

function createServerOptions(settings: PostgresSettings, { mustBeDurable = false }: JobStorePlace) {
  return { settings, name: 'release_log', size: 2, migrations, mustBeDurable };
}

async function openServer(settings: PostgresSettings, place: JobStorePlace): Promise<LogTable> {
  const options = createServerOptions(settings, place);
  return createServerTable(await openPostgresTables(options).catch(rethrow));
}

function createServerTable(tables: PostgresTables): LogTable {
  async function ask(text: string, parameters: unknown[]): Promise<readonly string[]> {
    const { rows } = await tables
      .use((query) => query<{ entry: string }>(text, parameters))
      .catch(rethrow);
    return rows.map(({ entry }) => entry);
  }

  return {
    find: async (id) => (await ask('select entry from release_log where id = $1', [id]))[0],
    last: async () =>
      (await ask('select entry from release_log order by number desc limit 1', []))[0],
    insert: async ({ number, id, key, atMs, entry }) =>
      (
        await ask(
          'insert into release_log values ($1, $2, $3, $4, $5) on conflict do nothing returning entry',
          [number, id, key, atMs, entry],
        )
      ).length === 1,
    list: (key, sinceMs) =>
      ask(
        'select entry from release_log where ($1::text is null or key = $1) and at_ms >= $2 order by number',
        [key ?? null, sinceMs],
      ),
    close: () => tables.close(),
  };
}

function rethrow(cause: unknown): never {
  throw isPoolError(cause) && cause.code === 'database_unavailable'
    ? new PoolError('database_unavailable', `DISBURSE_JOB_STORE: ${cause.message}`, { cause })
    : cause;
}
