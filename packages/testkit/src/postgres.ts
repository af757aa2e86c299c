/**
 * A real PostgreSQL server for tests: one process on a free loopback port, with a password, in a directory of its
 * own that goes away with it, copied from one that is made once for each version. PostgreSQL refuses to run as root; there it runs as the user `nobody`.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PoolError } from '@pool/core';
import pg from 'pg';
import { ensureTemplate } from './cluster-template.ts';
import { findPostgres, preparePostgres, readPostgresVersion } from './postgres-binaries.ts';
import { findFreePorts } from './process.ts';

const readyTimeoutMs = 60_000;
const user = 'pool';
const nobody = 65_534;

export interface PostgresServer {
  readonly version: string;
  readonly port: number;
  readonly password: string;
  /** Process id of the server that runs now. */
  pid(): number;
  /** URL of a database, password included. */
  url(database: string): string;
  /** Creates an empty database and returns its URL. `icuLocale` sorts text by that language's rules. */
  createDatabase(options?: { readonly icuLocale?: string }): Promise<string>;
  /** Runs one statement as the superuser. */
  query(text: string, database?: string): Promise<Record<string, unknown>[]>;
  /** SIGKILL for the server and each of its processes: a crash. */
  kill(): Promise<void>;
  /** Starts it again, on the same data and port. */
  start(): Promise<void>;
  /** Ends it and removes its data. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * @param settings - of postgresql.conf. Without any the server does not wait for the disk, which is faster.
 * @param parent - the folder that its own is made in
 * @throws PoolError `process_not_started`
 */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = { fsync: 'off' },
  parent: string = tmpdir(),
): Promise<PostgresServer> {
  const found = findPostgres();
  if (found === undefined) {
    throw notStarted(`there is no package for ${process.platform}-${process.arch}`, '');
  }
  const directory = mkdtempSync(join(parent, 'pool-postgres-'));
  const isRoot = process.getuid?.() === 0;
  const as = isRoot ? { uid: nobody, gid: nobody } : {};
  if (isRoot) chownSync(directory, nobody, nobody);
  const { programs, env: own } = preparePostgres(found, directory, isRoot);
  const env = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', TZ: 'UTC', ...own };
  const version = readPostgresVersion(programs, env);
  const template = await ensureTemplate(version.replaceAll(/[^a-z0-9.]+/gi, '-'), async (made) => {
    const password = randomBytes(12).toString('hex');
    const passwordFile = join(directory, 'password');
    writeFileSync(passwordFile, password);
    const data = join(directory, 'template');
    const { status, stdout, stderr } = spawnSync(
      programs.initdb,
      [
        ...['-D', data, '-U', user, '--auth=scram-sha-256', `--pwfile=${passwordFile}`],
        ...['--encoding=UTF8', '--no-locale', '--no-sync', '--no-instructions'],
      ],
      { ...as, env, cwd: directory, encoding: 'utf8' },
    );
    if (status !== 0) {
      throw notStarted('could not make its files', `${stdout}${stderr}`);
    }
    copyOwned(data, join(made, 'data'));
    writeFileSync(join(made, 'password'), password, { mode: 0o600 });
  });
  const password = readFileSync(join(template, 'password'), 'utf8');
  const data = join(directory, 'data');
  copyOwned(join(template, 'data'), data);
  const [port = 0] = await findFreePorts(1);
  const all = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    shared_buffers: '16MB',
    max_connections: '200',
    ...settings,
  };
  const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const run = () => spawn(programs.postgres, ['-D', data, ...args], { ...as, env, cwd: directory });
  let child: ChildProcess | undefined;
  const onExit = (): void => {
    child?.kill('SIGKILL');
  };
  process.once('exit', onExit);
  const url = (database: string): string =>
    `postgres://${user}:${password}@127.0.0.1:${port}/${database}?sslmode=disable`;
  const server: PostgresServer = {
    version,
    port,
    password,
    pid: () => child?.pid ?? 0,
    url,
    async createDatabase({ icuLocale } = {}) {
      const locale =
        icuLocale === undefined
          ? ''
          : ` template template0 locale_provider icu icu_locale '${icuLocale}'`;
      return await createDatabase(url('postgres'), locale);
    },
    query: (text, database = 'postgres') => queryDatabase(url(database), text),
    async kill() {
      if (child !== undefined) await killAll(child);
      child = undefined;
    },
    async start() {
      child = run();
      await untilReady(child);
    },
    async stop() {
      process.off('exit', onExit);
      // SIGINT: a fast shutdown, which ends every session.
      if (child !== undefined) await endChild(child, 'SIGINT');
      child = undefined;
      await rm(directory, { recursive: true, force: true });
    },
  };
  try {
    await server.start();
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/**
 * Creates an empty database on a server, and returns its URL.
 * @param server - URL of one of its databases, of a superuser
 * @param options - of the statement, after the name
 */
export async function createDatabase(server: string, options = ''): Promise<string> {
  const name = `t${randomBytes(6).toString('hex')}`;
  await queryDatabase(server, `create database ${name}${options}`);
  const url = new URL(server);
  url.pathname = name;
  return url.href;
}

/** Runs one statement. */
export async function queryDatabase(
  connectionString: string,
  text: string,
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** With the owners and modes of its files, which the server checks. */
function copyOwned(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' });
  if (status !== 0) {
    throw notStarted('could not copy its files', stderr);
  }
}

function untilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    const fail = (reason: string): void => {
      clearTimeout(timer);
      reject(notStarted(reason, output));
    };
    const timer = setTimeout(() => {
      fail(`was not ready within ${readyTimeoutMs} ms`);
    }, readyTimeoutMs);
    child.once('error', (error) => {
      fail(`could not be started: ${error.message}`);
    });
    child.once('exit', (code) => {
      fail(`exited with code ${code}`);
    });
    const read = (chunk: Buffer): void => {
      if (output.length > 100_000) return;
      output += chunk.toString('utf8');
      if (output.includes('ready to accept connections')) {
        clearTimeout(timer);
        resolve();
      }
    };
    // Both pipes stay read for the life of the process: a full pipe would stop the server.
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
  });
}

/** Each session is a process with a group of its own, so the children are looked up before anything is killed. */
async function killAll(child: ChildProcess): Promise<void> {
  const children = readChildren(child.pid ?? 0);
  const gone = endChild(child, 'SIGKILL');
  for (const pid of children) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself in the meantime.
    }
  }
  await gone;
  // The next start refuses memory that one of them still holds.
  const deadline = performance.now() + 10_000;
  while (children.some(isRunning) && performance.now() < deadline) {
    await delay(10);
  }
}

/** A zombie, which has ended and whose parent has not collected it yet (state Z), does not run. */
function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

function readChildren(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return text.split(' ').filter(Boolean).map(Number);
  } catch {
    // Not Linux: they notice the end of the server by themselves.
    return [];
  }
}

async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  const killer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await gone;
  clearTimeout(killer);
}

function notStarted(reason: string, output: string): PoolError {
  return new PoolError(
    'process_not_started',
    `PostgreSQL ${reason}. Its output: ${output.slice(-800)}`,
  );
}
