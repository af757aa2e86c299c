// The meaning of a skipped test for a run. A skip alone does not fail a run: `npm test` on a machine without a graphics
// driver reports the count and the reason. A run that must show everything (`.ci/run`) sets
// POOL_TEST_FORBID_SKIPS, and then a skip is a failure unless the test is for `pnpm test:full` only.
import type { SkippedTest } from './totals.ts';

/** Set by `pnpm test:full`; tests that are too long for every run check it with `it.skipIf(!FULL)`. */
export const fullRunVariable = 'POOL_TEST_FULL';

/** Set by a run that provides every driver and server: `1` makes a skipped test a failure. */
export const forbidSkipsVariable = 'POOL_TEST_FORBID_SKIPS';

interface KnownSkip {
  readonly name: RegExp;
  readonly reason: string;
  /** True for tests that only `pnpm test:full` runs. */
  readonly isLong: boolean;
}

const graphics =
  'need a graphics device; on Debian: apt-get install --no-install-recommends chromium-common libvulkan1';
const token =
  'need a PKCS#11 token; on Debian: apt-get install --no-install-recommends softhsm2 opensc';
const long = 'run in `pnpm test:full` only';

const known: readonly KnownSkip[] = [
  // The circuits alone; a payment of 17 proves with fund-64 in every run.
  { name: /fund-64 and fund-256/, reason: long, isLong: true },
  { name: /spend-16x8\.test/, reason: long, isLong: true },
  // A payment of 65; its key alone takes minutes to make.
  { name: /fund-256\.e2e/, reason: long, isLong: true },
  {
    name: /^(packages\/prover\/(src\/webgpu|test\/gpu-)|tooling\/src\/device-proofs)/,
    reason: graphics,
    isLong: false,
  },
  { name: /^packages\/signers\/src\/enclave\/pkcs11-key/, reason: token, isLong: false },
];

const unknown = 'for a reason that tooling/src/test-skips.ts does not know';

function findKnown(test: SkippedTest): KnownSkip | undefined {
  return known.find(({ name }) => name.test(test.name));
}

/** The skipped tests that fail a run which forbids skips. A full run must not skip any test. */
export function findForbiddenSkips(
  skipped: readonly SkippedTest[],
  isFullRun: boolean,
): readonly SkippedTest[] {
  if (isFullRun) return skipped;
  return skipped.filter((test) => findKnown(test)?.isLong !== true);
}

/** One line: how many tests were skipped, why, and what to install. `undefined` when none was. */
export function explainSkips(skipped: readonly SkippedTest[]): string | undefined {
  if (skipped.length === 0) return undefined;
  const counts = new Map<string, number>();
  for (const test of skipped) {
    const reason = findKnown(test)?.reason ?? unknown;
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return `skipped: ${[...counts].map(([reason, count]) => `${count} ${reason}`).join('; ')}`;
}
