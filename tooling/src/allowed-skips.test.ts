import { expect, it } from 'vitest';
import { findForbiddenSkips } from './allowed-skips.ts';
import type { SkippedTest } from './totals.ts';

const long: readonly SkippedTest[] = [
  {
    runner: 'vitest',
    name: 'packages/circuits/src/fund-64.test.ts > fund-64 and fund-256 a proof',
  },
  { runner: 'vitest', name: 'apps/sandbox/src/fund-256.e2e.test.ts > fund-256 pays the 65th' },
];
const quiet: readonly SkippedTest[] = [
  { runner: 'forge', name: 'B > test_needsServer()' },
  {
    runner: 'vitest',
    name: 'apps/sandbox/src/fund-64.e2e.test.ts > fund-64 pays the 17th recipient',
  },
];

it('allows the long tests to be skipped, except in a full run', () => {
  expect(findForbiddenSkips([...long, ...quiet], false)).toEqual(quiet);
  expect(findForbiddenSkips([...long, ...quiet], true)).toEqual([...long, ...quiet]);
  expect(findForbiddenSkips([], true)).toEqual([]);
});
