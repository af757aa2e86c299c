// `pnpm conformance`: runs the tests that name a requirement, which start the sandbox, and prints each requirement with its outcome.
//   pnpm conformance                     run and print
//   pnpm conformance --json              the same as one JSON document
//   pnpm conformance --report run.json   print from an existing JSON report of Vitest; runs nothing
// Exits with 0 only if every requirement is met.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { JsonTestResults } from 'vitest/node';
import { run } from '../src/processes.ts';
import { judge, listIds, requirements } from './requirements.ts';

const root = resolve(import.meta.dirname, '../..');

const { values } = parseArgs({
  // pnpm passes `--` on.
  args: process.argv.slice(2).filter((arg) => arg !== '--'),
  options: { json: { type: 'boolean', default: false }, report: { type: 'string' } },
});

/** Runs every file with a requirement, whole: tests of one deployment build on each other. */
async function runTests(): Promise<string> {
  const files = execFileSync('git', ['ls-files', '*.test.ts'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && existsSync(join(root, path)))
    .filter((path) => listIds(readFileSync(join(root, path), 'utf8')).length > 0);
  const output = values.json ? 'collect' : 'inherit';
  const folder = mkdtempSync(join(tmpdir(), 'pool-conformance-'));
  try {
    const path = join(folder, 'vitest.json');
    const { combined } = await run(
      process.execPath,
      [join(root, 'tooling/scripts/test-all.ts'), '--all', ...files],
      { cwd: root, output, env: { POOL_TEST_REPORT: path } },
    );
    if (!existsSync(path)) throw new Error(`Vitest left no report:\n${combined}`);
    return readFileSync(path, 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const report = JSON.parse(
  values.report === undefined
    ? await runTests()
    : readFileSync(resolve(root, values.report), 'utf8'),
) as JsonTestResults;
const rows = judge(
  requirements,
  report.testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults.map(({ fullName, title, status }) => ({
      name: `${relative(root, file)} > ${fullName}`,
      title,
      hasPassed: status === 'passed',
    })),
  ),
);
function count(outcome: string): number {
  return rows.filter((row) => row.outcome === outcome).length;
}
const totals = { pass: count('pass'), fail: count('FAIL'), owed: count('owed') };
if (values.json) {
  process.stdout.write(`${JSON.stringify({ rows, totals }, undefined, 2)}\n`);
} else {
  let section = '';
  for (const row of rows) {
    if (row.section !== section) process.stdout.write(`\n${row.section}\n`);
    section = row.section;
    process.stdout.write(`  ${row.outcome}  ${row.id}  ${row.says}\n`);
    for (const name of row.failed) process.stdout.write(`        ${name}\n`);
  }
  process.stdout.write(`\n${totals.pass} passed, ${totals.fail} failed, ${totals.owed} owed\n`);
}
process.exitCode = totals.fail + totals.owed === 0 ? 0 : 1;
