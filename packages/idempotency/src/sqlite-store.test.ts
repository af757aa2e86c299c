// Properties that only a file can show: private modes, several processes, SIGKILL, foreign files.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openJobStore } from './open-job-store.ts';
import { createSqliteStore } from './sqlite-store.ts';

const script = fileURLToPath(new URL('./fixtures/store-worker.ts', import.meta.url));
const job = { scope: 's', key: 'k', fingerprint: 'f', state: 'accepted', payload: '', nowMs: 1 };

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pool-jobs-'));
  path = join(folder, 'agent', 'jobs.db');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function start(mode: string, worker = ''): ChildProcess & { stdout: NodeJS.ReadableStream } {
  return spawn(
    process.execPath,
    ['--no-warnings', '--conditions=@pool/source', script, mode, path, worker],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
}

/** From now on no database file of this process can grow, as on a full disk. */
function fillDisk(): void {
  const { exec } = DatabaseSync.prototype;
  const spy = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (
    this: DatabaseSync,
    sql,
  ) {
    Reflect.apply(exec, this, ['PRAGMA max_page_count = 1']);
    Reflect.apply(exec, this, [sql]);
  });
  onTestFinished(() => {
    spy.mockRestore();
  });
}

describe('the SQLite store', () => {
  it('creates each key once for competing processes', async () => {
    const claims = await Promise.all(
      ['w1', 'w2', 'w3', 'w4'].map(
        async (worker): Promise<string[]> => JSON.parse(await text(start('claim', worker).stdout)),
      ),
    );
    for (let round = 0; round < 25; round += 1) {
      const created = claims.filter((outcomes) => outcomes[round] === 'created');
      expect(created).toHaveLength(1);
      expect(claims.every((outcomes) => outcomes.length === 25)).toBe(true);
    }
  });

  it('keeps every acknowledged write of a process that is killed', async () => {
    const child = start('write');
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
      if (output.split('\n').length > 30) {
        child.kill('SIGKILL');
      }
    });
    await once(child, 'close');
    // A line that the kill truncated was not fully acknowledged.
    const acknowledged = output.slice(0, output.lastIndexOf('\n')).split('\n');
    expect(acknowledged.length).toBeGreaterThan(20);

    const store = createSqliteStore({ path });
    for (const index of acknowledged) {
      expect(await store.getValue('s', 'k', `v${index}`)).toBe(index);
    }
    await store.close();
  });

  it('keeps jobs over a restart', async () => {
    const before = await openJobStore({ url: `sqlite:${path}` });
    const { job: created } = await before.claim(job);
    await before.close();
    const after = await openJobStore({ url: `sqlite:${path}` });
    expect(await after.get('s', 'k')).toEqual(created);
    await after.close();
  });

  it('creates its folder with mode 0700 and its files with mode 0600, whatever the umask', async () => {
    const umask = process.umask(0);
    try {
      const store = createSqliteStore({ path });
      await store.claim(job);
      expect(statSync(join(folder, 'agent')).mode & 0o777).toBe(0o700);
      for (const suffix of ['', '-wal', '-shm']) {
        expect(statSync(path + suffix).mode & 0o777).toBe(0o600);
      }
      await store.close();
    } finally {
      process.umask(umask);
    }
  });

  it('waits for another writer for less time than any lease, then fails with store_busy', async () => {
    const store = createSqliteStore({ path });
    await store.claim(job);
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    // The agent's lease is 6 s, and a renewal must run within it. The machine may stop one of the waits for longer.
    let shortestMs = Number.POSITIVE_INFINITY;
    for (let turn = 0; turn < 10 && shortestMs >= 2_000; turn += 1) {
      const startedMs = performance.now();
      await expect(
        store.update({ ...job, fence: 0, state: 'submitted', payload: 'late' }),
      ).rejects.toMatchObject({ code: 'store_busy', retryable: true });
      shortestMs = Math.min(shortestMs, performance.now() - startedMs);
    }
    expect(shortestMs).toBeLessThan(2_000);
    other.exec('ROLLBACK');
    other.close();
    await store.update({ ...job, fence: 0, state: 'submitted', payload: 'now' });
    expect((await store.get('s', 'k'))?.payload).toBe('now');
    await store.close();
  });

  it('leaves no data of an erased job in its files', async () => {
    const store = createSqliteStore({ path });
    const secret = 'salary-of-alice-'.repeat(400);
    await store.claim({ ...job, payload: secret });
    await store.putOnce({ ...job, fence: 0, name: 'manifest', value: secret });
    const onDisk = (): boolean =>
      ['', '-wal'].some(
        (suffix) =>
          existsSync(path + suffix) && readFileSync(path + suffix).includes('salary-of-alice'),
      );
    expect(onDisk()).toBe(true);
    await store.erase({ scope: 's', key: 'k', names: ['manifest'], payload: '' });
    expect(onDisk()).toBe(false);
    await store.close();
  });

  it('names its file and the free space if the disk is full, and loses nothing that it has', async () => {
    const store = createSqliteStore({ path });
    await store.claim(job);
    fillDisk();
    const payload = 'x'.repeat(100_000);
    const full = {
      code: 'disk_full',
      status: 503,
      retryable: true,
      message: expect.stringMatching(
        new RegExp(
          `^${path} cannot be written: the disk is full \\([0-9]+ KiB are free\\); make room on it, then try again$`,
        ),
      ),
    };
    await expect(store.claim({ ...job, key: 'second', payload })).rejects.toMatchObject(full);
    await expect(
      store.putOnce({ ...job, fence: 0, name: 'seed', value: payload }),
    ).rejects.toMatchObject(full);
    expect(await store.listNames()).toEqual([{ scope: 's', key: 'k' }]);
    vi.restoreAllMocks();
    await store.close();
  });

  it('does not blame a file that cannot be made on its contents if the disk is full', () => {
    fillDisk();
    expect(() => createSqliteStore({ path })).toThrow(
      expect.objectContaining({ code: 'disk_full' }),
    );
  });

  it('refuses a file of another version, and a file that is not a database', async () => {
    const database = new DatabaseSync(join(folder, 'newer.db'));
    database.exec('PRAGMA user_version = 7');
    database.close();
    const invalid = expect.objectContaining({ code: 'invalid_store' });
    expect(() => createSqliteStore({ path: join(folder, 'newer.db') })).toThrow(invalid);
    writeFileSync(
      join(folder, 'text.db'),
      'not a database, but long enough to be read as one. '.repeat(9),
    );
    expect(() => createSqliteStore({ path: join(folder, 'text.db') })).toThrow(invalid);
  });
});

describe('openJobStore', () => {
  it('opens memory:', async () => {
    expect((await (await openJobStore({ url: 'memory:' })).claim(job)).outcome).toBe('created');
  });

  it.each(['', 'sqlite:', 'sqlite::memory:', 'sqlite:file:x', 'jobs.db'])(
    'refuses %j and names the accepted forms',
    async (url) => {
      await expect(openJobStore({ url })).rejects.toThrow(
        'must be sqlite:<path to a file>, postgres://user@host/database or memory:',
      );
    },
  );

  it.each([
    ['postgres://h/d', 'host, user and database are required'],
    ['postgres://u:secret-word@h/d', 'must not contain a password'],
    ['postgres://u@192.0.2.1/d?sslmode=disable', 'must not switch TLS off'],
  ])('refuses %j: %s', async (url, reason) => {
    const refused = openJobStore({ url });
    await expect(refused).rejects.toThrow(reason);
    await expect(refused).rejects.not.toThrow('secret-word');
  });
});
