import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  bannedWords,
  checkBannedWords,
  checkPackageFiles,
  findLicenceProblems,
} from './house-checks.ts';

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

describe('findLicenceProblems', () => {
  it('names each package whose licence is not on the list', () => {
    const licences = {
      MIT: [{ name: 'fine' }],
      'GPL-3.0': [{ name: 'a' }],
      Unknown: [{ name: 'b' }],
    };
    expect(findLicenceProblems(licences)).toEqual([
      'a: licence GPL-3.0 is not on the list',
      'b: licence Unknown is not on the list',
    ]);
  });
});

describe('checkBannedWords', () => {
  it('reads tracked files only, their names and their lines', () => {
    const [word = ''] = bannedWords;
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
  const page = 'https://host.example/pool';
  const url = `git+${page}.git`;
  const published = {
    name: 'a',
    description: 'What it does.',
    keywords: ['one', 'two', 'three'],
    license: 'MIT',
    homepage: `${page}/tree/main/packages/a#readme`,
    bugs: { url: `${page}/issues` },
    repository: { type: 'git', url, directory: 'packages/a' },
    sideEffects: false,
    exports: { '.': './dist/index.js', './package.json': './package.json' },
    scripts: { build: 'x' },
    publishConfig: { provenance: true },
  };

  beforeEach(() => {
    write('package.json', { homepage: `${page}#readme`, repository: { type: 'git', url } });
    write('packages/a/README.md', '# a');
  });

  it('finds no problem in this repository', () => {
    expect(checkPackageFiles(resolve(import.meta.dirname, '../..'))).toEqual([]);
  });

  it('accepts a private package that has a README and the licence', () => {
    write('packages/a/package.json', { name: 'a', private: true, license: 'MIT' });
    expect(checkPackageFiles(root)).toEqual([]);
  });

  it('requires a README and the licence in every package', () => {
    write('packages/b/package.json', { name: 'b', private: true });
    expect(checkPackageFiles(root)).toEqual([
      'packages/b: has no README.md',
      'packages/b: its licence is not MIT',
    ]);
  });

  it('refuses a published package that depends on a private one', () => {
    write('packages/a/package.json', { ...published, dependencies: { b: 'workspace:*' } });
    write('packages/b/package.json', { name: 'b', private: true, license: 'MIT' });
    write('packages/b/README.md', '# b');
    expect(checkPackageFiles(root)).toEqual([
      'packages/a: is published and depends on b, which is private',
    ]);
  });

  it.each([
    ['scripts', {}, 'is published but has no build script'],
    ['publishConfig', { access: 'public' }, 'is published without provenance (publishConfig)'],
    ['description', '', 'has no description'],
    ['keywords', ['one'], 'has fewer than three keywords'],
    ['exports', { '.': './dist/index.js' }, 'does not export ./package.json'],
    ['sideEffects', undefined, 'does not say which files have side effects'],
    [
      'bin',
      { a: './dist/cli.js' },
      'has a command in dist, which a fresh clone does not have; put it in bin',
    ],
    ['homepage', page, `homepage is not ${published.homepage}`],
    ['bugs', { url: page }, `bugs.url is not ${page}/issues`],
    [
      'repository',
      { type: 'git', url, directory: 'packages/b' },
      `repository is not ${url} with the directory packages/a`,
    ],
  ])('requires %s of a published package', (field, value, complaint) => {
    write('packages/a/package.json', published);
    expect(checkPackageFiles(root)).toEqual([]);
    write('packages/a/package.json', { ...published, [field]: value });
    expect(checkPackageFiles(root)).toEqual([`packages/a: ${complaint}`]);
  });
});
