// Expected counts were counted in the fixtures by hand; both fixtures have the shape of real reports
// (Vitest 5.1.1 `--reporter=json`, Forge 1.7.1 `test --json`).
import { describe, expect, it } from 'vitest';
import {
  addTotals,
  formatTotals,
  parseForgeReport,
  parseTotalsLine,
  parseVitestReport,
} from './totals.ts';

function test(fullName: string, status: string) {
  return { fullName, title: fullName, status };
}

const vitestReport = {
  numPassedTests: 2,
  numFailedTests: 1,
  success: false,
  testResults: [
    {
      name: '/repo/packages/a/src/a.test.ts',
      status: 'failed',
      message: '',
      assertionResults: [test('a adds', 'passed'), test('a fails', 'failed')],
    },
    {
      name: '/repo/packages/a/src/b.test.ts',
      status: 'passed',
      message: '',
      assertionResults: [
        test('b works', 'passed'),
        test('b waits', 'skipped'),
        test('b waits too', 'pending'),
        test('b later', 'todo'),
      ],
    },
    {
      name: '/repo/packages/a/src/broken.test.ts',
      status: 'failed',
      message: 'SyntaxError: nope\n  at x',
      assertionResults: [],
    },
  ],
};

describe('parseVitestReport', () => {
  it('counts passed, failed and skipped tests, and a file that does not load as one failure', () => {
    const report = parseVitestReport(vitestReport, '/repo');
    expect(report.totals).toEqual({ passed: 2, failed: 2, skipped: 3 });
    expect(report.failures).toEqual([
      'packages/a/src/a.test.ts > a fails',
      'packages/a/src/broken.test.ts: SyntaxError: nope',
    ]);
    expect(report.skipped[0]).toEqual({
      runner: 'vitest',
      name: 'packages/a/src/b.test.ts > b waits',
    });
  });

  it('refuses text that is not a report', () => {
    expect(() => parseVitestReport({})).toThrow('testResults');
    expect(() => parseVitestReport([])).toThrow('not an object');
    expect(() => parseVitestReport({ ...vitestReport, numPassedTests: 3 })).toThrow('contradicts');
  });

  it('refuses an unknown status', () => {
    const report = {
      numPassedTests: 0,
      testResults: [{ name: 'x', status: 'passed', assertionResults: [test('x', 'dreamt')] }],
    };
    expect(() => parseVitestReport(report)).toThrow('dreamt');
  });
});

const forgeReport = {
  'test/A.t.sol:ATest': {
    test_results: {
      'test_ok()': { status: 'Success', reason: null },
      'testFuzz_x(uint256)': { status: 'Success', reason: null },
      'test_bad()': { status: 'Failure', reason: 'no' },
      'test_quiet()': { status: 'Failure', reason: null },
    },
  },
  'test/B.t.sol:BTest': { test_results: { 'test_skip()': { status: 'Skipped', reason: null } } },
};

describe('parseForgeReport', () => {
  it('counts over all suites', () => {
    const report = parseForgeReport(forgeReport);
    expect(report.totals).toEqual({ passed: 2, failed: 2, skipped: 1 });
    expect(report.failures).toEqual([
      'test/A.t.sol:ATest > test_bad(): no',
      'test/A.t.sol:ATest > test_quiet()',
    ]);
    expect(report.skipped).toEqual([{ runner: 'forge', name: 'test/B.t.sol:BTest > test_skip()' }]);
  });

  it('refuses text that is not a report', () => {
    expect(() => parseForgeReport('Error: Compiler run failed')).toThrow('not an object');
    expect(() => parseForgeReport({ x: {} })).toThrow('test_results');
    expect(() => parseForgeReport({ x: { test_results: { t: { status: 'Odd' } } } })).toThrow(
      'Odd',
    );
  });
});

describe('the closing line', () => {
  it('is written and read back', () => {
    const totals = addTotals([
      { passed: 2, failed: 1, skipped: 0 },
      { passed: 40, failed: 0, skipped: 3 },
    ]);
    expect(formatTotals(totals)).toBe('42 passed, 1 failed, 3 skipped');
    expect(parseTotalsLine('42 passed, 1 failed, 3 skipped\n')).toEqual(totals);
    expect(formatTotals({ passed: 7, failed: 0, skipped: 0 })).toBe('7 passed, 0 failed');
    expect(parseTotalsLine('7 passed, 0 failed')).toEqual({ passed: 7, failed: 0, skipped: 0 });
  });

  it('is not found in other text', () => {
    expect(parseTotalsLine('Tests  7 passed, 0 failed')).toBeUndefined();
    expect(parseTotalsLine('7 passed')).toBeUndefined();
    expect(parseTotalsLine('')).toBeUndefined();
  });
});
