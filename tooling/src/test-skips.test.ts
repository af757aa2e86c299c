import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { explainSkips, findForbiddenSkips, forbidSkipsVariable } from './test-skips.ts';
import type { SkippedTest } from './totals.ts';

const long: readonly SkippedTest[] = [
  {
    runner: 'vitest',
    name: 'packages/circuits/src/fund-64.test.ts > fund-64 and fund-256 a proof',
  },
  { runner: 'vitest', name: 'apps/sandbox/src/fund-256.e2e.test.ts > fund-256 pays the 65th' },
];
const graphics: readonly SkippedTest[] = [
  { runner: 'vitest', name: 'packages/prover/src/webgpu/msm.test.ts > sums in G1 of one point' },
  { runner: 'vitest', name: 'tooling/src/device-proofs.e2e.test.ts > whole proofs' },
];
const unknown: readonly SkippedTest[] = [
  { runner: 'forge', name: 'B > test_needsServer()' },
  {
    runner: 'vitest',
    name: 'apps/sandbox/src/fund-64.e2e.test.ts > fund-64 pays the 17th recipient',
  },
];

it('allows a run that forbids skips to skip the long tests only, and a full run to skip none', () => {
  const all = [...long, ...graphics, ...unknown];
  expect(findForbiddenSkips(all, false)).toEqual([...graphics, ...unknown]);
  expect(findForbiddenSkips(all, true)).toEqual(all);
  expect(findForbiddenSkips([], true)).toEqual([]);
});

it('explains every skip in one line that says what to install', () => {
  expect(explainSkips([])).toBeUndefined();
  const line = explainSkips([...long, ...graphics, ...unknown]) ?? '';
  expect(line.split('\n')).toHaveLength(1);
  expect(line).toContain('2 run in `pnpm test:full` only');
  expect(line).toMatch(/2 need a graphics device; .*chromium-common libvulkan1/);
  expect(line).toContain('2 for a reason that');
});

const root = resolve(import.meta.dirname, '../..');

/** The real command on one file with one skipped test, which is in a separate folder below tooling. */
function runOnSkippedTest(env: Record<string, string>): { status: number | null; out: string } {
  const folder = mkdtempSync(join(root, 'tooling/src/.skip-probe-'));
  try {
    const file = join(folder, 'probe.test.ts');
    writeFileSync(
      file,
      "import { expect, it } from 'vitest';\nit('runs', () => expect(1).toBe(1));\nit.skip('sleeps', () => {});\n",
    );
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

it('counts a skip in any CI, and fails only if the run forbids skips', () => {
  const inCi = runOnSkippedTest({ CI: 'true' });
  expect(inCi.out).toMatch(/\n1 passed, 0 failed, 1 skipped\n$/);
  expect(inCi.out).toContain('skipped: 1 for a reason that');
  expect(inCi.status).toBe(0);

  const strict = runOnSkippedTest({ CI: 'true', [forbidSkipsVariable]: '1' });
  expect(strict.out).toMatch(/skip not allowed: .*sleeps/);
  expect(strict.out).toMatch(/\n1 passed, 1 failed\n$/);
  expect(strict.status).toBe(1);
});
