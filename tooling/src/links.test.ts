// Links between our documents lead somewhere: to a file that is there, and to a heading that it has.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** The anchor that GitHub gives a heading. */
function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');
}

function listAnchors(file: string): readonly string[] {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (?<text>.+)$/gm);
  return [...headings].map((match) => toAnchor(match.groups?.['text']?.trim() ?? ''));
}

function findDanglingLinks(file: string): readonly string[] {
  const links = readFileSync(file, 'utf8').matchAll(/\]\((?<to>[^)\s]+)\)/g);
  return [...links]
    .map((match) => match.groups?.['to'] ?? '')
    .filter((to) => !/^[a-z]+:/.test(to))
    .filter((to) => {
      const [path = '', anchor] = to.split('#');
      const target = path === '' ? file : join(dirname(file), path);
      return !existsSync(target) || (anchor !== undefined && !listAnchors(target).includes(anchor));
    });
}

const documents = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '')
  .map((path) => join(root, path))
  .filter((file) => existsSync(file));

test('there are documents', () => {
  expect(documents.length).toBeGreaterThan(20);
});

test.each(documents.map((file) => [relative(root, file), file]))(
  'every link of %s leads somewhere',
  (_name, file) => {
    expect(findDanglingLinks(file)).toEqual([]);
  },
);
