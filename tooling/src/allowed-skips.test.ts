import { expect, it } from 'vitest';
import { findForbiddenSkips } from './allowed-skips.ts';
import type { SkippedTest } from './totals.ts';

const long: SkippedTest = { runner: 'vitest', name: 'a.test.ts > proves with fund-64' };
const quiet: SkippedTest = { runner: 'forge', name: 'B > test_needsServer()' };

it('allows the long tests to be skipped, except in a full run', () => {
  expect(findForbiddenSkips([long, quiet], false)).toEqual([quiet]);
  expect(findForbiddenSkips([long, quiet], true)).toEqual([long, quiet]);
  expect(findForbiddenSkips([], true)).toEqual([]);
});
