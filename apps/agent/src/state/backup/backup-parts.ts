/**
 * What a backup contains: snapshots of the agent's databases, its small files, its viewing keys, and its settings without credentials.
 *
 * The order of the snapshots matters, because they are taken one after the other while the agent runs. A store that refers to another
 * one comes first: a key of the spend journal names a spend of the archive. The ledger of pay runs comes after the jobs: a label that it
 * forgot could pay an edited roster again.
 *
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PoolError } from '@pool/core';
import { makePrivateFile } from '@pool/storage';
import type { BackupPart } from '@pool/wallet';

/** The keys of spends, if DISBURSE_SPEND_JOURNAL names a file. */
export const journalPart = 'spend-journal.sqlite';

/** A part with its bytes. */
export type Snapshot = BackupPart & {
  /** Its bytes in pieces. */
  chunks(): Iterable<Uint8Array>;
  close(): void;
};

export type StorePaths = {
  /** The agent directory. */
  readonly home: string;
  /** Databases that the configuration may keep elsewhere, by their name in the agent directory. */
  readonly elsewhere: Readonly<Record<string, string | undefined>>;
  /** Small files by their name, with their path. They are left out where they do not exist. */
  readonly files: Readonly<Record<string, string>>;
};

const chunkBytes = 1024 * 1024;

/** Sealed notes that the holder received, which no platform may have any more. */
const noteArchive = /^holder-notes-[0-9a-f]+\.archive$/;

/** Before all others, and after all others. */
const first = [journalPart, 'jobs.sqlite', 'spends.sqlite'];
const last = ['pay-runs.sqlite'];

/**
 * Takes snapshots of all stores. Every database of the agent directory is included, so that a store that a later version adds is too.
 * @throws PoolError `file_not_written` if a store cannot be read, or is damaged: a backup of it would be worthless
 */
export function takeSnapshots({ home, elsewhere, files }: StorePaths): readonly Snapshot[] {
  removeStale(home, stalePrefix);
  const folder = join(home, `${stalePrefix}${process.pid}-${randomBytes(4).toString('hex')}`);
  mkdirSync(folder, { mode: 0o700 });
  const taken: Snapshot[] = [];
  try {
    for (const [name, path] of listDatabases(home, elsewhere)) {
      taken.push(snapshotDatabase(name, path, folder));
    }
    // After the caches, which can be made again from them. They only grow, so a copy is a valid earlier state.
    const archives = existsSync(home)
      ? readdirSync(home).filter((name) => noteArchive.test(name))
      : [];
    for (const name of archives) {
      taken.push(createMemorySnapshot(name, readFileSync(join(home, name))));
    }
    for (const [name, path] of Object.entries(files)) {
      if (existsSync(path)) {
        taken.push(createMemorySnapshot(name, readFileSync(path)));
      }
    }
    return taken;
  } catch (error) {
    closeAll(taken);
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function closeAll(snapshots: readonly Snapshot[]): void {
  for (const snapshot of snapshots) {
    snapshot.close();
  }
}

/** A small part that is made here. */
export function createMemorySnapshot(name: string, content: string | Uint8Array): Snapshot {
  const bytes = Buffer.from(content);
  return {
    name,
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    counts: {},
    *chunks() {
      yield bytes;
    },
    close: () => bytes.fill(0),
  };
}

function listDatabases(
  home: string,
  elsewhere: StorePaths['elsewhere'],
): readonly (readonly [string, string])[] {
  const paths = new Map<string, string>();
  const moved = new Set(
    Object.values(elsewhere).flatMap((path) => (path === undefined ? [] : [resolve(path)])),
  );
  for (const name of existsSync(home) ? readdirSync(home) : []) {
    const path = join(home, name);
    if (name.endsWith('.sqlite') && !moved.has(path)) {
      paths.set(name, path);
    }
  }
  for (const [name, path] of Object.entries(elsewhere)) {
    if (path !== undefined && existsSync(path)) {
      paths.set(name, resolve(path));
    }
  }
  const rank = (name: string): number =>
    first.includes(name) ? first.indexOf(name) - first.length : last.includes(name) ? 1 : 0;
  return [...paths].sort(([one], [other]) => rank(one) - rank(other) || (one < other ? -1 : 1));
}

/** One consistent state of a database, also while another process writes to it. */
function snapshotDatabase(name: string, path: string, folder: string): Snapshot {
  const copy = join(folder, name);
  let file: number | undefined;
  try {
    makePrivateFile(copy);
    const source = new DatabaseSync(path, { readOnly: true, timeout: 30_000 });
    try {
      source.prepare('VACUUM INTO ?').run(copy);
    } finally {
      source.close();
    }
    const counts = checkDatabase(copy);
    file = openSync(copy, 'r');
    const opened = file;
    // From here on no name leads to the copy, so that nothing readable stays behind if the process is killed.
    rmSync(copy);
    const bytes = fstatSync(opened).size;
    const chunks = (): Iterable<Uint8Array> => readChunks(opened, bytes);
    const hash = createHash('sha256');
    for (const chunk of chunks()) {
      hash.update(chunk);
    }
    const sha256 = hash.digest('hex');
    return { name, bytes, sha256, counts, chunks, close: () => closeSync(opened) };
  } catch (cause) {
    if (file !== undefined) {
      closeSync(file);
    }
    throw new PoolError(
      'file_not_written',
      `${path} cannot be read, or is damaged, so no backup was made; check the file, and free space in ${dirname(folder)}`,
      { cause },
    );
  }
}

function* readChunks(file: number, bytes: number): Generator<Uint8Array, void, undefined> {
  for (let position = 0; position < bytes; ) {
    const chunk = new Uint8Array(Math.min(chunkBytes, bytes - position));
    const read = readSync(file, chunk, 0, chunk.length, position);
    if (read === 0) {
      throw new Error('the snapshot ended early');
    }
    position += read;
    yield chunk.subarray(0, read);
  }
}

/**
 * SQLite's own check of a database. @returns the rows of each table
 * @throws Error if the check finds damage
 */
export function checkDatabase(path: string): Readonly<Record<string, number>> {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    if (database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] !== 'ok') {
      throw new Error("SQLite's own check found damage");
    }
    const tables = database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .all()
      .map(({ name }) => String(name));
    return Object.fromEntries(
      tables.sort().map((table) => {
        const quoted = table.replaceAll('"', '""');
        const row = database.prepare(`SELECT count(*) AS rows FROM "${quoted}"`).get();
        return [table, Number(row?.['rows'])];
      }),
    );
  } finally {
    database.close();
  }
}

const stalePrefix = '.backup-';

/**
 * Removes folders of commands that were killed: `start`, the id of the process, a hyphen, eight hex digits. Nothing else: a person
 * may keep a file `.backup-2026-11-30.age` beside them.
 */
export function removeStale(parent: string, start: string): void {
  for (const name of existsSync(parent) ? readdirSync(parent) : []) {
    const pid = name.startsWith(start)
      ? /^(\d+)-[0-9a-f]{8}$/.exec(name.slice(start.length))?.[1]
      : undefined;
    if (pid !== undefined && !isAlive(Number(pid))) {
      rmSync(join(parent, name), { recursive: true, force: true });
    }
  }
}

/** Whether a process has this number. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
