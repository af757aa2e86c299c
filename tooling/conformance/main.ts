// `pnpm conformance`: runs the tests that the map names, which start the sandbox, and prints the map with the outcome
// of each row.
//   pnpm conformance                     run and print
//   pnpm conformance --json              the same as one JSON document
//   pnpm conformance --report run.json   print from an existing report of Vitest; runs nothing
// Exits with 0 only if no row failed and the map has no problem.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { run } from '../src/processes.ts';
import { allowedUnshown } from './allowed-unshown.ts';
import { findProblems } from './find-problems.ts';
import { countOutcomes, decideRows, readRanTests } from './read-outcomes.ts';
import { renderRows } from './render-map.ts';
import { sections, statements } from './statements.ts';

const root = resolve(import.meta.dirname, '../..');

const { values } = parseArgs({
  // pnpm passes `--` on.
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  options: { json: { type: 'boolean', default: false }, report: { type: 'string' } },
});

function readFile(path: string): string | undefined {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Runs the files of every test that the map names, whole: tests of one deployment build on each other. */
async function runNamedTests(): Promise<unknown> {
  const files = statements.flatMap(({ proof }) =>
    proof.kind === 'shown' ? proof.tests.map(({ file }) => file) : [],
  );
  const output = values.json ? 'collect' : 'inherit';
  await run(
    process.execPath,
    ['--conditions=@pool/source', join(root, 'tooling/scripts/ensure-artifacts.ts'), 'fund-16'],
    { cwd: root, output },
  );
  const folder = mkdtempSync(join(tmpdir(), 'pool-conformance-'));
  try {
    const path = join(folder, 'vitest.json');
    const { combined } = await run(
      process.execPath,
      [
        join(root, 'node_modules/vitest/vitest.mjs'),
        'run',
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${path}`,
        ...new Set(files),
      ],
      { cwd: root, output },
    );
    if (!existsSync(path)) throw new Error(`Vitest left no report:\n${combined}`);
    return JSON.parse(readFileSync(path, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const report: unknown =
  values.report === undefined
    ? await runNamedTests()
    : JSON.parse(readFileSync(resolve(root, values.report), 'utf8'));
const rows = decideRows(sections, readRanTests(report, root));
const totals = countOutcomes(rows);
const problems = findProblems({ statements, allowedUnshown: allowedUnshown, readFile });

process.stdout.write(
  values.json
    ? `${JSON.stringify({ rows, totals, problems }, undefined, 2)}\n`
    : `${[...problems.map((problem) => `problem: ${problem}`), renderRows(rows)].join('\n')}\n`,
);
process.exitCode = totals.fail === 0 && problems.length === 0 ? 0 : 1;
