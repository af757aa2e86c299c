// `npm test` and `pnpm test:full`: every test of the repository, both runners, one closing line.
//   npm test                      everything except the slow files (tooling/src/slow-tests.ts)
//   npm test -- --all             everything that CI runs
//   npm test -- packages/core     only the Vitest files whose path contains the text, slow ones included
//   pnpm test:full                everything, and the tests that take many minutes (fund-256, fund-64 alone)
// With POOL_TEST_REPORT=<file>, Vitest's JSON report is stored there: `pnpm conformance --report <file>` reads it.
// With POOL_TEST_FORBID_SKIPS=1, a skipped test fails the run (tooling/src/test-skips.ts); otherwise one line explains the skips.
// Ends with `N passed, N failed` (and `, N skipped`) over both runners. A runner that dies, or that fails without
// naming a failed test, counts as one failed test.
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findForge } from '../../packages/contracts/scripts/forge.ts';
import { run } from '../src/processes.ts';
import { everydayProjects } from '../src/slow-tests.ts';
import {
  explainSkips,
  findForbiddenSkips,
  forbidSkipsVariable,
  fullRunVariable,
} from '../src/test-skips.ts';
import {
  addTotals,
  formatTotals,
  parseForgeReport,
  parseVitestReport,
  type RunnerReport,
} from '../src/totals.ts';

const root = resolve(import.meta.dirname, '../..');

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Replaces a report that is missing: one failure with its reason. */
function crashed(reason: string): RunnerReport {
  return {
    totals: { passed: 0, failed: 1, skipped: 0 },
    skipped: [],
    failures: [reason],
  };
}

/** A runner that fails must have a failed test to show; otherwise its failure would be missing from the totals. */
function withExitStatus(report: RunnerReport, status: number, runner: string): RunnerReport {
  if (status === 0 || report.totals.failed > 0) return report;
  return {
    ...report,
    totals: { ...report.totals, failed: 1 },
    failures: [`${runner} ended with status ${status} although no test failed; see its output`],
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}

async function runVitest(args: readonly string[], env: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'pool-tests-'));
  try {
    const reportPath = join(folder, 'vitest.json');
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const { status } = await run(
      process.execPath,
      [
        vitest,
        'run',
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${reportPath}`,
        ...args,
      ],
      { cwd: root, env, output: 'inherit' },
    );
    const kept = process.env['POOL_TEST_REPORT'] ?? '';
    if (kept !== '' && existsSync(reportPath)) copyFileSync(reportPath, kept);
    try {
      const report: unknown = JSON.parse(readFileSync(reportPath, 'utf8'));
      return withExitStatus(parseVitestReport(report, root), status, 'Vitest');
    } catch (error) {
      return crashed(`Vitest wrote no readable report (status ${status}): ${reasonOf(error)}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runForge(env: Record<string, string>): Promise<RunnerReport> {
  const forge = findForge();
  const { status, stdout, combined } = await run(forge, ['test', '--json'], {
    cwd: join(root, 'packages/contracts'),
    env,
    output: 'collect',
  });
  try {
    const start = stdout.indexOf('{"');
    if (start < 0) throw new Error('no JSON in its output');
    const report = parseForgeReport(JSON.parse(stdout.slice(start)));
    return withExitStatus(report, status, 'Forge');
  } catch (error) {
    say(combined.slice(0, 10_000));
    return crashed(`Forge wrote no readable report (status ${status}): ${reasonOf(error)}`);
  }
}

const forbidsSkips = process.env[forbidSkipsVariable] === '1';

async function runAll(args: readonly string[]): Promise<number> {
  const isFullRun = args.includes('--full');
  const filters = args.filter((arg) => !['--full', '--all', '--'].includes(arg));
  const isFiltered = filters.length > 0;
  const leavesOutSlow = !isFiltered && !isFullRun && !args.includes('--all');
  const projects = leavesOutSlow ? everydayProjects.map((name) => `--project=${name}`) : [];
  const env: Record<string, string> = {
    // Tests start many processes of Pool, and each would compile the same modules again.
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
    ...(isFullRun ? { [fullRunVariable]: '1' } : {}),
  };
  const reports: RunnerReport[] = [];

  if (!isFiltered) {
    say('circuits: making the proving artifacts the tests need (cached by digest)');
    const made = await run(
      process.execPath,
      [
        '--conditions=@pool/source',
        join(root, 'tooling/scripts/ensure-artifacts.ts'),
        'fund-16',
        ...(leavesOutSlow ? [] : ['spend-2x4', 'spend-16x8']),
        ...(isFullRun ? ['fund-64', 'fund-256'] : []),
      ],
      { cwd: root, output: 'inherit' },
    );
    if (made.status !== 0) reports.push(crashed('the circuit artifacts could not be made'));
  }
  reports.push(await runVitest([...projects, ...filters], env));
  if (!isFiltered) {
    say('forge: compiling and testing the contracts');
    const forge = await runForge(env).catch((error: unknown) => crashed(reasonOf(error)));
    reports.push(forge);
    say(`forge: ${formatTotals(forge.totals)}`);
  }

  const totals = addTotals(reports.map((report) => report.totals));
  for (const failure of reports.flatMap((report) => report.failures)) say(`failed: ${failure}`);
  const skipped = reports.flatMap((report) => report.skipped);
  const forbidden = forbidsSkips ? findForbiddenSkips(skipped, isFullRun) : [];
  for (const { name } of forbidden) say(`skip not allowed: ${name}`);
  const explanation = explainSkips(skipped.filter((test) => !forbidden.includes(test)));
  if (explanation !== undefined) say(explanation);
  if (leavesOutSlow)
    say('left out: the slow test files; `npm test -- --all` runs them, as CI does');
  say('');
  // A forbidden skip is a failure, so it is counted as one.
  say(
    formatTotals({
      passed: totals.passed,
      failed: totals.failed + forbidden.length,
      skipped: totals.skipped - forbidden.length,
    }),
  );
  return totals.failed + forbidden.length > 0 || totals.passed === 0 ? 1 : 0;
}

process.exitCode = await runAll(process.argv.slice(2));
