import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { forbidSkipsVariable, type Outcome, summarize } from './summary.ts';

const root = resolve(import.meta.dirname, '../..');
const long = [
  'packages/circuits/src/fund-64.test.ts > fund-64 and fund-256 a proof',
  'apps/sandbox/src/fund-256.e2e.test.ts > fund-256 pays the 65th',
];
const graphics = [
  'packages/prover/src/webgpu/msm/msm.test.ts > sums in G1 of one point',
  'packages/prover/test/gpu-check.test.ts > the check',
];
const unknown = ['apps/sandbox/src/fund-64.e2e.test.ts > fund-64 pays the 17th recipient'];
const outcome: Outcome = { passed: 7, failed: [], skipped: [...long, ...graphics, ...unknown] };
const lenient = { forbidsSkips: false, isFullRun: false };

it('allows a run that forbids skips to skip the long tests only, and a full run to skip none', () => {
  const strict = summarize(outcome, { forbidsSkips: true, isFullRun: false });
  expect(strict.lines.at(-1)).toBe('7 passed, 3 failed, 2 skipped');
  expect(strict.lines).toContain(`skip not allowed: ${graphics[0]}`);
  expect(strict.hasFailed).toBe(true);
  const full = summarize(outcome, { forbidsSkips: true, isFullRun: true });
  expect(full.lines.at(-1)).toBe('7 passed, 5 failed');
});

it('knows every suite that only a full run has', () => {
  const found = spawnSync('git', ['grep', '-E', 'skipIf\\(!isFullRun\\)'], {
    ...{ cwd: root, encoding: 'utf8' },
  });
  const suite = /^([^:]+):describe\.skipIf\(!isFullRun\)\('([^']+)'.*$/;
  const hits = found.stdout.trim().split('\n');
  expect(hits.filter((line) => !suite.test(line))).toEqual([]);
  const skipped = hits.map((line) => line.replace(suite, '$1 > $2 a test'));
  expect(skipped).toContain('tooling/model/faults.test.ts > a simulation a test');
  const { lines } = summarize(
    { passed: 1, failed: [], skipped },
    { forbidsSkips: true, isFullRun: false },
  );
  expect(lines.at(-1)).toBe(`1 passed, 0 failed, ${skipped.length} skipped`);
});

it('explains every skip in one line that says what to install', () => {
  const { lines, hasFailed } = summarize(outcome, lenient);
  expect(lines).toHaveLength(3);
  expect(lines[0]).toContain('2 run in `pnpm test:full` only');
  expect(lines[0]).toMatch(/2 need a graphics device; .*chromium-common libvulkan1/);
  expect(lines[0]).toContain('1 for a reason that');
  expect(hasFailed).toBe(false);
});

it('names what failed, and fails a run in which nothing passed', () => {
  const { lines, hasFailed } = summarize(
    { passed: 1, failed: ['a.test.ts > adds'], skipped: [] },
    lenient,
  );
  expect(lines).toEqual(['failed: a.test.ts > adds', '', '1 passed, 1 failed']);
  expect(hasFailed).toBe(true);
  expect(summarize({ passed: 0, failed: [], skipped: [] }, lenient).hasFailed).toBe(true);
});

/** The real command on one file in a separate folder below tooling. */
function runOn(
  source: string,
  env: Record<string, string>,
): { status: number | null; out: string } {
  const folder = mkdtempSync(join(root, 'tooling/src/.skip-probe-'));
  try {
    const file = join(folder, 'probe.test.ts');
    writeFileSync(file, `import { expect, it } from 'vitest';\n${source}\n`);
    const home = mkdtempSync(join(tmpdir(), 'pool-skip-probe-'));
    const { status, stdout } = spawnSync(
      process.execPath,
      [join(root, 'tooling/scripts/test-all.ts'), file],
      {
        cwd: root,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'] ?? '', HOME: home, NO_COLOR: '1', ...env },
      },
    );
    rmSync(home, { recursive: true, force: true });
    return { status, out: stdout };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const withSkip = "it('runs', () => expect(1).toBe(1)); it.skip('sleeps', () => {});";

it('counts a skip in any CI, and fails only if the run forbids skips', () => {
  const inCi = runOn(withSkip, { CI: 'true' });
  expect(inCi.out).toMatch(/\n1 passed, 0 failed, 1 skipped\n$/);
  expect(inCi.out).toContain('skipped: 1 for a reason that');
  expect(inCi.status).toBe(0);

  const strict = runOn(withSkip, { CI: 'true', [forbidSkipsVariable]: '1' });
  expect(strict.out).toMatch(/skip not allowed: .*sleeps/);
  expect(strict.out).toMatch(/\n1 passed, 1 failed\n$/);
  expect(strict.status).toBe(1);
});

it('counts a failed test, and a file that does not load', () => {
  const failed = runOn(
    "it('runs', () => expect(1).toBe(1)); it('breaks', () => expect(1).toBe(2));",
    {},
  );
  expect(failed.out).toMatch(/failed: tooling\/src\/\S+ > breaks\n\n1 passed, 1 failed\n$/);
  expect(failed.status).toBe(1);

  const broken = runOn("throw new Error('no load');", {});
  expect(broken.out).toMatch(/failed: tooling\/src\/\S+: no load\n\n0 passed, 1 failed\n$/);
  expect(broken.status).toBe(1);
});
