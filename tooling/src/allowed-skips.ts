// Tests that CI may skip. Anything else that skips there (a missing driver, a server that is not installed) is a
// failure: a test that quietly does not run protects nothing.
import type { SkippedTest } from './totals.ts';

/** Set by `pnpm test:full`; tests that are too long for every run ask for it with `it.skipIf(!FULL)`. */
export const FULL_RUN_VARIABLE = 'POOL_TEST_FULL';

interface AllowedSkip {
  readonly name: RegExp;
  readonly why: string;
}

const ALLOWED: readonly AllowedSkip[] = [
  {
    name: /fund-64 and fund-256/,
    why: 'the circuits alone; a payment of 17 proves with fund-64 in every run',
  },
  { name: /fund-256\.e2e/, why: 'a payment of 65; its key alone takes minutes to make' },
];

/** The skipped tests that nothing allows to be skipped. A full run allows none. */
export function findForbiddenSkips(
  skipped: readonly SkippedTest[],
  isFullRun: boolean,
): readonly SkippedTest[] {
  if (isFullRun) return skipped;
  return skipped.filter((test) => !ALLOWED.some(({ name }) => name.test(test.name)));
}
