import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BANNED_WORDS } from './banned-words.ts';
import { checkAllLicences, checkBannedWords, checkPackageFiles } from './house-checks.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pool-house-'));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

function write(path: string, text: string | object): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), typeof text === 'string' ? text : JSON.stringify(text));
}

describe('checkAllLicences', () => {
  it('is content with this repository', () => {
    expect(checkAllLicences(resolve(import.meta.dirname, '../..'))).toEqual([]);
  });

  it('names a package at fault once', () => {
    write('packages/a/package.json', { name: 'a', license: 'MIT', dependencies: { gpl: '1' } });
    write('node_modules/gpl/package.json', { name: 'gpl', license: 'GPL-3.0' });
    expect(checkAllLicences(root)).toEqual(['a > gpl: licence GPL-3.0 is not permissive']);
  });
});

describe('checkBannedWords', () => {
  it('looks at tracked files only, at their names and at their lines', () => {
    const [word = ''] = BANNED_WORDS;
    write('fine.txt', 'nothing here\n');
    write('note.txt', `one\n${word}two\n`);
    write('untracked.txt', word);
    write('binary.bin', `\0${word}`);
    execFileSync('git', ['init', '-q'], { cwd: root });
    execFileSync('git', ['add', 'fine.txt', 'note.txt', 'binary.bin'], { cwd: root });
    expect(checkBannedWords(root)).toEqual([`note.txt:2: has the word "${word}"`]);
  });
});

describe('checkPackageFiles', () => {
  it('asks for a README, the licence and a build script', () => {
    const build = { scripts: { build: 'x' }, license: 'MIT' };
    write('packages/a/package.json', { name: 'a', ...build });
    write('packages/a/README.md', '# a');
    write('packages/b/package.json', { name: 'b' });
    write('packages/c/package.json', { name: 'c', private: true, license: 'MIT' });
    expect(checkPackageFiles(root)).toEqual([
      'packages/b: has no README.md',
      'packages/b: its licence is not MIT',
      'packages/b: is published but has no build script',
      'packages/c: has no README.md',
    ]);
  });
});
