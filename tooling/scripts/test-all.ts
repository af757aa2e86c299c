// `npm test`: makes the circuits' keys that the tests need, then runs Vitest, which runs Forge too
// (packages/contracts/scripts/forge.e2e.test.ts).
//   npm test                      every test, without the slow files (tooling/src/slow-tests.ts)
//   npm test -- --all             everything that CI runs
//   npm test -- packages/core     only the files whose path contains the text, slow ones included
//   pnpm test:full                everything, and the tests that take many minutes (fund-256, fund-64 alone)
// With POOL_TEST_REPORT=<file>, Vitest's JSON report is stored there: `pnpm conformance --report <file>` reads it.
// Ends with `N passed, N failed` (tooling/src/summary.ts).
import { join, resolve } from 'node:path';
import { run } from '../src/processes.ts';
import { everydayProjects } from '../src/slow-tests.ts';
import { fullRunVariable } from '../src/summary.ts';

const root = resolve(import.meta.dirname, '../..');

async function runAll(args: readonly string[]): Promise<number> {
  const isFullRun = args.includes('--full');
  const filters = args.filter((arg) => !['--full', '--all', '--'].includes(arg));
  const leavesOutSlow = filters.length === 0 && !isFullRun && !args.includes('--all');
  const env: Record<string, string> = {
    // Tests start many processes of Pool, and each would compile the same modules again.
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
    ...(isFullRun ? { [fullRunVariable]: '1' } : {}),
  };
  if (filters.length === 0 || args.includes('--all')) {
    process.stdout.write('circuits: making the keys that the tests need (cached by digest)\n');
    // Two processes: compiling uses one core.
    const circuits = leavesOutSlow
      ? [['fund-16']]
      : [['spend-16x8'], ['fund-16', 'spend-2x4', ...(isFullRun ? ['fund-64', 'fund-256'] : [])]];
    const script = join(root, 'tooling/scripts/ensure-artifacts.ts');
    const made = await Promise.all(
      circuits.map((names) =>
        run(process.execPath, ['--conditions=@pool/source', script, ...names], {
          cwd: root,
          output: 'inherit',
        }),
      ),
    );
    const status = Math.max(...made.map((each) => each.status));
    if (status !== 0) {
      process.stdout.write(
        'failed: the keys of the circuits could not be made\n\n0 passed, 1 failed\n',
      );
      return status;
    }
  }
  if (leavesOutSlow) {
    process.stdout.write(
      'the slow files are left out; `npm test -- --all` runs them, as CI does\n',
    );
  }
  const projects = leavesOutSlow ? everydayProjects.map((name) => `--project=${name}`) : [];
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { status } = await run(process.execPath, [vitest, 'run', ...projects, ...filters], {
    cwd: root,
    env,
    output: 'inherit',
  });
  return status;
}

process.exitCode = await runAll(process.argv.slice(2));
