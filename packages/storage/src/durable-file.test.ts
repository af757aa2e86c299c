// Small files that are complete or absent, and readable by their owner only.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDurableFile, replaceDurableFile } from './durable-file.ts';
import { openPrivateDatabase } from './private-database.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'durable-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

it('writes a file of any size completely, with mode 0600', () => {
  const path = join(directory, 'file');
  const content = 'secret'.repeat(1_000_000);
  expect(createDurableFile(path, content)).toBe(true);
  expect(readFileSync(path, 'utf8')).toBe(content);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(createDurableFile(path, 'other')).toBe(false);
  replaceDurableFile(path, 'other');
  expect(readFileSync(path, 'utf8')).toBe('other');
  expect(readdirSync(directory)).toEqual(['file']);
});

/** Runs one of the functions in a process whose files may have at most 512 bytes, as on a full disk. */
function writeWithinLimit(call: string, path: string): number | null {
  const script = `
    import { createDurableFile, replaceDurableFile } from ${JSON.stringify(import.meta.resolve('./durable-file.ts'))};
    ${call}(${JSON.stringify(path)}, 'secret'.repeat(10_000));
  `;
  const node = [process.execPath, '--conditions=@pool/source', '--input-type=module', '-e', script];
  return spawnSync('/bin/sh', ['-c', 'trap \'\' XFSZ; ulimit -f 1; exec "$@"', 'sh', ...node], {
    stdio: 'ignore',
  }).status;
}

it.skipIf(process.platform === 'win32').each(['createDurableFile', 'replaceDurableFile'])(
  '%s leaves no part of the content behind where the disk is full',
  (call) => {
    const path = join(directory, 'file');
    expect(writeWithinLimit(call, path)).not.toBe(0);
    expect(readdirSync(directory)).toEqual([]);
    writeFileSync(path, 'before');
    writeWithinLimit(call, path);
    expect(readFileSync(path, 'utf8')).toBe('before');
    expect(readdirSync(directory)).toEqual(['file']);
  },
);

it('takes the access of other users to an existing database away', () => {
  const path = join(directory, 'private.sqlite');
  openPrivateDatabase(path, '').database.close();
  chmodSync(path, 0o644);
  writeFileSync(`${path}-journal`, '', { mode: 0o644 });
  openPrivateDatabase(path, '').database.close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  if (existsSync(`${path}-journal`)) {
    expect(statSync(`${path}-journal`).mode & 0o777).toBe(0o600);
  }
});
