// The closing lines of a test run, as a reporter of Vitest: what failed, why tests were skipped, and `N passed, N failed`.
//
// A skip alone does not fail a run: `npm test` on a machine without a graphics driver reports the count and the reason. A run
// that provides every driver and server (`.ci/run`) sets POOL_TEST_FORBID_SKIPS=1; then a skip is a failure, unless the
// test belongs to `pnpm test:full`.
import { relative } from 'node:path';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** Set by `pnpm test:full`; tests that are too long for every run check it with `it.skipIf(!FULL)`. */
export const fullRunVariable = 'POOL_TEST_FULL';
export const forbidSkipsVariable = 'POOL_TEST_FORBID_SKIPS';
/** Where Vitest's JSON report goes; empty for nowhere. */
export const reportFile = process.env['POOL_TEST_REPORT'] ?? '';

interface KnownSkip {
  readonly name: RegExp;
  readonly reason: string;
  /** True for tests that only `pnpm test:full` runs. */
  readonly isLong?: true;
}

const long = 'run in `pnpm test:full` only';
const known: readonly KnownSkip[] = [
  // The circuits alone; contracts verify a proof of fund-64 in every run (packages/contracts/test/gas).
  { name: /fund-64 and fund-256/, reason: long, isLong: true },
  { name: /spend-16x8\.test/, reason: long, isLong: true },
  // The audit of spend-2x4 and the mutants run always.
  { name: /signer-audit\.test\.ts > the gadget alone/, reason: long, isLong: true },
  // The sums of a device and its loss are tested in every run (packages/prover/src/webgpu/engine.test.ts, src/proof).
  { name: /device-proofs\.e2e/, reason: long, isLong: true },
  // A payment of 65; its key alone takes minutes to make.
  { name: /fund-256\.e2e/, reason: long, isLong: true },
  // The seeded faults of the protocol's model; those of its replays run always.
  { name: /^tooling\/model\/faults\.test\.ts > a simulation/, reason: long, isLong: true },
  {
    name: /^(packages\/prover\/(src\/webgpu|test\/gpu-))/,
    reason:
      'need a graphics device; on Debian: apt-get install --no-install-recommends chromium-common libvulkan1',
  },
  {
    name: /^apps\/sandbox\/src\/browser-wallet\.e2e/,
    reason: 'need Chromium; on Debian: apt-get install --no-install-recommends chromium',
  },
  {
    name: /^packages\/signers\/src\/enclave\/pkcs11-key/,
    reason:
      'need a PKCS#11 token; on Debian: apt-get install --no-install-recommends softhsm2 opensc',
  },
];
const unknown = 'for a reason that tooling/src/summary.ts does not know';

/** Names of tests, `file > suite > test`. A file that failed without a failed test is one failure. */
export interface Outcome {
  readonly passed: number;
  readonly failed: readonly string[];
  readonly skipped: readonly string[];
}

/** The closing lines, and whether the run has failed. A run without a passed test has failed. */
export function summarize(
  { passed, failed, skipped }: Outcome,
  { forbidsSkips, isFullRun }: { readonly forbidsSkips: boolean; readonly isFullRun: boolean },
): { readonly lines: readonly string[]; readonly hasFailed: boolean } {
  const knownOf = (test: string): KnownSkip | undefined =>
    known.find(({ name }) => name.test(test));
  const forbidden = forbidsSkips
    ? skipped.filter((test) => isFullRun || knownOf(test)?.isLong !== true)
    : [];
  const permitted = skipped.filter((test) => !forbidden.includes(test));
  const reasons = new Map<string, number>();
  for (const test of permitted) {
    const reason = knownOf(test)?.reason ?? unknown;
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  const why = [...reasons].map(([reason, count]) => `${count} ${reason}`).join('; ');
  const failures = failed.length + forbidden.length;
  return {
    lines: [
      ...failed.map((test) => `failed: ${test}`),
      ...forbidden.map((test) => `skip not allowed: ${test}`),
      ...(why === '' ? [] : [`skipped: ${why}`]),
      '',
      `${passed} passed, ${failures} failed${permitted.length > 0 ? `, ${permitted.length} skipped` : ''}`,
    ],
    hasFailed: failures > 0 || passed === 0,
  };
}

function readOutcome(modules: readonly TestModule[], errors: readonly SerializedError[]): Outcome {
  let passed = 0;
  const failed = errors.map(({ message }) => `outside a test: ${firstLine(message)}`);
  const skipped: string[] = [];
  for (const module of modules) {
    const path = relative(process.cwd(), module.moduleId);
    let hasNamedFailure = false;
    for (const test of module.children.allTests()) {
      const name = `${path} > ${test.fullName}`;
      const { state } = test.result();
      if (state === 'passed') passed++;
      else if (state === 'skipped') skipped.push(name);
      else {
        hasNamedFailure = true;
        failed.push(name);
      }
    }
    if (module.state() === 'failed' && !hasNamedFailure) {
      failed.push(
        `${path}: ${firstLine(module.errors()[0]?.message ?? 'a suite or a hook failed')}`,
      );
    }
  }
  return { passed, failed, skipped };
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

/** Writes the closing lines after every other reporter. */
export const summaryReporter: Reporter = {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const { lines, hasFailed } = summarize(readOutcome(modules, errors), {
      forbidsSkips: process.env[forbidSkipsVariable] === '1',
      isFullRun: process.env[fullRunVariable] === '1',
    });
    process.stdout.write(`${lines.join('\n')}\n`);
    if (hasFailed) process.exitCode = 1;
  },
};
