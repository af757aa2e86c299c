// Compares the titles of all tests with those at another commit: node tooling/scripts/compare-titles.ts <commit>
//
// A refactoring must not lose a test. Titles are read from the sources, so nothing is run and no commit is installed. A
// test may move to another file or suite. A test that was renamed has a line `old<TAB>new` in a file of
// tooling/test-titles; a line with an empty right side names a test that was removed, and the comment above it says why.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { listTestTitles } from '../conformance/test-titles.ts';
import { findLostTitles, parseRenamedTitles } from '../src/lost-titles.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'tooling/test-titles');
const testFile = /\.test\.ts$/;

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 });
}

/** The last title of each test; suites may change. */
function titlesOf(sources: readonly string[]): string[] {
  return sources.flatMap((source) => listTestTitles(source).map((path) => path.at(-1) ?? ''));
}

function titlesAt(commit: string): string[] {
  const files = git('ls-tree', '-r', '--name-only', commit).split('\n');
  return titlesOf(files.filter((f) => testFile.test(f)).map((f) => git('show', `${commit}:${f}`)));
}

function titlesNow(): string[] {
  const files = git('ls-files').split('\n');
  return titlesOf(
    files.filter((f) => testFile.test(f)).map((f) => readFileSync(join(root, f), 'utf8')),
  );
}

const [commit] = process.argv.slice(2);
if (commit === undefined) {
  process.stderr.write('usage: node tooling/scripts/compare-titles.ts <commit>\n');
  process.exitCode = 2;
} else {
  const renamed = readdirSync(folder)
    .filter((name) => name.endsWith('.tsv'))
    .flatMap((name) => parseRenamedTitles(readFileSync(join(folder, name), 'utf8')));
  const before = titlesAt(commit);
  const now = titlesNow();
  const lost = findLostTitles(before, now, renamed);
  for (const title of lost) process.stdout.write(`${title}\n`);
  process.stdout.write(`${before.length} titles before, ${now.length} now, ${lost.length} lost\n`);
  if (lost.length > 0) process.exitCode = 1;
}
