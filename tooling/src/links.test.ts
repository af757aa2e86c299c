// Links between our documents lead to files and headings that exist. So do the paths in documents, and the citations of decisions
// and headings in the code.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
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
  const text = readFileSync(file, 'utf8').replaceAll(/`[^`\n]*`/g, '');
  const links = text.matchAll(/\]\((?<to>[^)\s]+)\)/g);
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

const decisions = join(root, 'docs/decisions');

/** The citations of decisions in one text, as `0009` or `0009 §7`. */
function listCitations(text: string): readonly string[] {
  const citations = text.matchAll(
    /docs\/decisions\/(?<number>\d{4})(?<rest>(?:(?:,| and| to) §\d+)*)/g,
  );
  return [...citations].flatMap(({ groups }) => {
    const number = groups?.['number'] ?? '';
    const paragraphs = [...(groups?.['rest'] ?? '').matchAll(/§(?<n>\d+)/g)];
    return [number, ...paragraphs.map((found) => `${number} §${found.groups?.['n'] ?? ''}`)];
  });
}

const known = new Set(
  readdirSync(decisions).flatMap((file) => {
    const number = file.slice(0, 4);
    const paragraphs = readFileSync(join(decisions, file), 'utf8').matchAll(/^\*\*§(?<n>\d+)\. /gm);
    return [number, ...[...paragraphs].map((found) => `${number} §${found.groups?.['n'] ?? ''}`)];
  }),
);

/** Paths from the root that a text names in backticks. Patterns with `*` or `{` are not paths. */
function listPaths(text: string): readonly string[] {
  const found = text.matchAll(/`(?<path>(?:apps|packages|tooling|docs|bench)\/[\w./-]+)`/g);
  return [...found].map((match) => match.groups?.['path'] ?? '');
}

test.each(documents.map((file) => [relative(root, file), file]))(
  'every file and folder that %s names exists',
  (_name, file) => {
    const paths = listPaths(readFileSync(file, 'utf8'));
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  },
);

const sources = execFileSync('git', ['ls-files', '*.ts', '*.mjs', '*.sol'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(root, path)));

test('every decision and paragraph that the code cites exists', () => {
  const cited = sources.flatMap((path) =>
    listCitations(readFileSync(join(root, path), 'utf8')).map((citation) => ({ path, citation })),
  );
  expect(cited.length).toBeGreaterThan(50);
  expect(cited.filter(({ citation }) => !known.has(citation))).toEqual([]);
});

/** The document of this name in the folder of a source, or in the nearest folder above it. */
function findDocument(source: string, name: string): string | undefined {
  for (let folder = dirname(join(root, source)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, name))) return join(folder, name);
    if (folder === root) return undefined;
  }
}

test('every heading that the code cites exists', () => {
  const cited = sources.flatMap((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    return [...text.matchAll(/\b(?<name>[A-Z]+\.md),? "(?<heading>[^"\n]+)"/g)].map((match) => ({
      path,
      name: match.groups?.['name'] ?? '',
      heading: match.groups?.['heading'] ?? '',
    }));
  });
  const isMissing = ({ path, name, heading }: (typeof cited)[number]): boolean => {
    const document = findDocument(path, name);
    return document === undefined || !listAnchors(document).includes(toAnchor(heading));
  };
  expect(cited.length).toBeGreaterThan(10);
  expect(cited.filter(isMissing)).toEqual([]);
});
