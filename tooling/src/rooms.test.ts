// The house as its imports draw it: no circle among packages, none among the folders of a package, at most 15 source files in a
// folder, and no package above a tenth of all code.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { countAll, countTypeScript, generated, test } from '../scripts/count.ts';

const root = resolve(import.meta.dirname, '../..');
const listed = execFileSync('git', ['ls-files', 'packages', 'apps'], {
  cwd: root,
  encoding: 'utf8',
});
const sources = listed
  .split('\n')
  .filter((path) => /^(packages|apps)\/[^/]+\/src\/.*(?<!\.d)\.ts$/.test(path) && !test.test(path));

/** What a source file imports: other sources, by path, and packages of this repository, as `packages/core`. */
const imports = new Map(
  sources.map((path) => {
    const { importedFiles } = ts.preProcessFile(readFileSync(join(root, path), 'utf8'));
    const targets = importedFiles.map(({ fileName }) =>
      fileName.startsWith('.')
        ? posix.join(posix.dirname(path), fileName)
        : fileName.replace(/^@pool\/([^/]+).*$/, 'packages/$1'),
    );
    return [path, targets.filter((target) => /^(packages|apps)\//.test(target))];
  }),
);
function packageOf(path: string): string {
  return path.split('/').slice(0, 2).join('/');
}

type Arrows = ReadonlyMap<string, ReadonlySet<string>>;

function reach(arrows: Arrows, from: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const open = [from];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    for (const next of arrows.get(place) ?? []) {
      if (!seen.has(next)) {
        seen.add(next);
        open.push(next);
      }
    }
  }
  return seen;
}

/** The sets of places that reach each other, each as one line. */
function findCircles(arrows: Arrows): string[] {
  const reached = new Map([...arrows.keys()].map((place) => [place, reach(arrows, place)]));
  const circles = [...reached].flatMap(([place, far]) => {
    const circle = [...far].filter((other) => reached.get(other)?.has(place));
    return circle.length > 1 ? [circle.sort().join(' ')] : [];
  });
  return [...new Set(circles)].sort();
}

function drawArrows(pairs: Iterable<readonly [from: string, to: string]>): Arrows {
  const arrows = new Map<string, Set<string>>();
  for (const [from, to] of pairs) {
    if (from !== to) arrows.set(from, (arrows.get(from) ?? new Set()).add(to));
  }
  return arrows;
}

describe('the rooms of the house', () => {
  it('have no circle among packages', () => {
    const pairs = [...imports].flatMap(([path, targets]) =>
      targets.map((target) => [packageOf(path), packageOf(target)] as const),
    );
    expect(findCircles(drawArrows(pairs))).toEqual([]);
  });

  it('have no circle among the folders of a package', () => {
    // A file that no other imports is the beginning of a program or of a package: it may import from everywhere.
    const imported = new Set([...imports.values()].flat());
    const pairs = [...imports].flatMap(([path, targets]) =>
      targets
        .filter(
          (target) => imports.has(target) && imported.has(path) && !path.endsWith('/src/index.ts'),
        )
        .map((target) => [posix.dirname(path), posix.dirname(target)] as const),
    );
    expect(findCircles(drawArrows(pairs))).toEqual([]);
  });

  it('have at most 15 source files in a folder', () => {
    const folders = Map.groupBy(
      sources.filter((path) => !generated.test(path)),
      (path) => posix.dirname(path),
    );
    const large = [...folders].filter(([, files]) => files.length > 15).map(([folder]) => folder);
    expect(large.sort()).toEqual([]);
  });

  it('have no package above a tenth of all code', () => {
    const counts = [...countAll()];
    const total = counts.reduce((sum, [, { source }]) => sum + source, 0);
    const large = counts.filter(([, { source }]) => source > total / 10).map(([room]) => room);
    expect(large.sort()).toEqual([]);
  });

  it('are counted without comments and blank lines', () => {
    const text = [
      '/** A comment of the module. */',
      "import { a } from './a.ts';",
      '',
      '/**',
      ' * A comment of a function.',
      ' * @param b - a number',
      ' */',
      'export function add(b: number): number {',
      '  // a comment in its body',
      '  return a + b; // beside a statement',
      '}',
    ];
    expect(countTypeScript(text.join('\n'))).toBe(4);
  });
});
