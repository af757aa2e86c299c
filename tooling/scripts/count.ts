// `pnpm count`: how much there is to read. Code lines of each package and app, tests apart, and words of Markdown.
// `--json` prints the same figures as JSON.
//
// A code line has at least one token: comments and blank lines do not count. Generated files, test vectors and installed
// packages do not count. TypeScript is read with its own scanner, because `packages/*/src` in a string looks like the
// begin of a comment to a counter that works with patterns.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

const root = resolve(import.meta.dirname, '../..');
const code = /\.(?:ts|mts|js|mjs|sol|circom)$/;
export const generated = /(?:^|\/)generated\/|\.generated\.|^vectors\//;
export const test =
  /\.(?:test|bench)\.ts$|\.t\.sol$|\/tests?\/|\/fixtures\/|^packages\/testkit\/|^tooling\/custodians\//;

/** Lines with a token. */
export function countTypeScript(text: string): number {
  const file = ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest);
  const lines = new Set<number>();
  const visit = (node: ts.Node): void => {
    // TypeScript lists the comment of a declaration among its children.
    if (ts.isJSDoc(node)) return;
    if (node.getChildCount(file) > 0) {
      for (const child of node.getChildren(file)) visit(child);
    } else if (node.getWidth(file) > 0) {
      const first = file.getLineAndCharacterOfPosition(node.getStart(file)).line;
      const last = file.getLineAndCharacterOfPosition(node.getEnd()).line;
      for (let line = first; line <= last; line++) lines.add(line);
    }
  };
  for (const statement of file.statements) visit(statement);
  return lines.size;
}

/** Solidity and circom have no strings with comment signs. */
function countOther(text: string): number {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.trim().startsWith('//')).length;
}

export interface Count {
  files: number;
  source: number;
  tests: number;
  words: number;
}

/** By package, app or folder. */
export function countAll(): Map<string, Count> {
  const counts = new Map<string, Count>();
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
  for (const path of tracked.split('\0')) {
    if (!existsSync(join(root, path)) || generated.test(path)) continue;
    const isCode = code.test(path);
    if (!isCode && !path.endsWith('.md')) continue;
    const parts = path.split('/');
    const room =
      parts.length > 2 ? parts.slice(0, 2).join('/') : parts.length > 1 ? (parts[0] ?? '') : 'root';
    const count = counts.get(room) ?? { files: 0, source: 0, tests: 0, words: 0 };
    counts.set(room, count);
    const text = readFileSync(join(root, path), 'utf8');
    if (!isCode) {
      count.words += text.split(/\s+/).filter((word) => word !== '').length;
      continue;
    }
    const lines = /\.m?[tj]s$/.test(path) ? countTypeScript(text) : countOther(text);
    count[test.test(path) ? 'tests' : 'source'] += lines;
    count.files++;
  }
  return counts;
}

if (import.meta.main) {
  const rows = [...countAll()].sort(([a], [b]) => a.localeCompare(b));
  const total = rows.reduce(
    (sum, [, row]) => ({
      files: sum.files + row.files,
      source: sum.source + row.source,
      tests: sum.tests + row.tests,
      words: sum.words + row.words,
    }),
    { files: 0, source: 0, tests: 0, words: 0 },
  );
  if (process.argv.includes('--json')) {
    process.stdout.write(`${JSON.stringify({ rooms: Object.fromEntries(rows), total })}\n`);
  } else {
    const line = (cells: readonly (string | number)[]): string =>
      cells.map((cell, at) => (at === 0 ? `${cell}`.padEnd(26) : `${cell}`.padStart(9))).join('');
    const head = line(['', 'files', 'source', 'tests', 'words']);
    const body = [...rows, ['total', total] as const].map(
      ([room, { files, source, tests, words }]) => line([room, files, source, tests, words]),
    );
    process.stdout.write(`${[head, ...body].join('\n')}\n`);
  }
}
