import { execFileSync } from 'node:child_process';
import {
  chmod,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeWholeFile } from './write-file.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prover-write-'));
  path = join(folder, 'proof.json');
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

it('leaves the old file to a reader that has opened it, and keeps its permissions', async () => {
  await writeFile(path, 'old');
  await chmod(path, 0o640);
  const reader = await open(path);
  await writeWholeFile(path, 'new');
  expect(await reader.readFile('utf8')).toBe('old');
  await reader.close();
  expect(await readFile(path, 'utf8')).toBe('new');
  expect((await stat(path)).mode & 0o777).toBe(0o640);
  expect(await readdir(folder)).toEqual(['proof.json']);
});

it('takes the group’s and others’ permissions from a file that becomes secret', async () => {
  await writeFile(path, 'old');
  await chmod(path, 0o644);
  await writeWholeFile(path, 'new', true);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

it('replaces what a link points to, and not the link', async () => {
  const target = join(folder, 'target.json');
  await writeFile(target, 'old');
  await symlink(target, path);
  await writeWholeFile(path, 'new');
  expect(await readlink(path)).toBe(target);
  expect(await readFile(target, 'utf8')).toBe('new');
});

it('writes into a pipe, which cannot be replaced', async () => {
  execFileSync('/usr/bin/mkfifo', [path]);
  const [read] = await Promise.all([readFile(path, 'utf8'), writeWholeFile(path, 'new')]);
  expect(read).toBe('new');
  expect((await stat(path)).isFIFO()).toBe(true);
});

it('names a path that is a folder, or is in none, and leaves nothing there', async () => {
  await mkdir(path);
  for (const wrong of [path, join(folder, 'nowhere', 'a.json')]) {
    await expect(writeWholeFile(wrong, 'new')).rejects.toMatchObject({
      code: 'argument_invalid',
      message: expect.stringContaining(wrong),
    });
  }
  expect(await readdir(folder)).toEqual(['proof.json']);
});
