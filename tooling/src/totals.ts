// Counts tests from the reports of the two runners, Vitest and Forge, and writes the closing line.

/** The result of a run. `failed` includes test files that could not be loaded. */
export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** One skipped test, by runner and full name: `file > suite > test`. */
export interface SkippedTest {
  readonly runner: 'vitest' | 'forge';
  readonly name: string;
}

export interface RunnerReport {
  readonly totals: Totals;
  readonly skipped: readonly SkippedTest[];
  /** Names of the tests that failed, with the reason if the report states one. */
  readonly failures: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asObject(value: unknown, what: string): Json {
  if (!isObject(value)) throw new Error(`${what} is not an object`);
  return value;
}

function asArray(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${what} is not an array`);
  return value as readonly unknown[];
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function toReport(
  passed: number,
  failures: readonly string[],
  skipped: readonly SkippedTest[],
): RunnerReport {
  return {
    totals: { passed, failed: failures.length, skipped: skipped.length },
    skipped,
    failures,
  };
}

/**
 * Reads Vitest's JSON report. A file that failed without a failed test in it (a syntax error, a failed hook) counts
 * as one failure. Throws if the text is not a report, or if its sums contradict its list.
 */
export function parseVitestReport(report: unknown, root = ''): RunnerReport {
  const top = asObject(report, 'the Vitest report');
  let passed = 0;
  const failures: string[] = [];
  const skipped: SkippedTest[] = [];
  for (const item of asArray(top['testResults'], 'testResults')) {
    const file = asObject(item, 'a test file');
    const path = asText(file['name']).replace(root === '' ? '' : `${root}/`, '');
    let failedHere = 0;
    for (const entry of asArray(file['assertionResults'], 'assertionResults')) {
      const test = asObject(entry, 'a test');
      const name = `${path} > ${asText(test['fullName']).trim()}`;
      const status = asText(test['status']);
      if (status === 'passed') passed++;
      else if (status === 'failed') {
        failedHere++;
        failures.push(name);
      } else if (status === 'skipped' || status === 'pending' || status === 'todo') {
        skipped.push({ runner: 'vitest', name });
      } else {
        throw new Error(`${name} has the unknown status "${status}"`);
      }
    }
    if (file['status'] === 'failed' && failedHere === 0) {
      failures.push(`${path}: ${asText(file['message']).split('\n', 1)[0] ?? ''}`);
    }
  }
  const result = toReport(passed, failures, skipped);
  if (top['numPassedTests'] !== result.totals.passed) {
    throw new Error('the Vitest report contradicts itself about how many tests passed');
  }
  return result;
}

/** Reads the output of `forge test --json`. Throws when it is not such a report, as after a failed compilation. */
export function parseForgeReport(report: unknown): RunnerReport {
  let passed = 0;
  const failures: string[] = [];
  const skipped: SkippedTest[] = [];
  for (const [suiteName, suite] of Object.entries(asObject(report, 'the Forge report'))) {
    const results = asObject(asObject(suite, suiteName)['test_results'], 'test_results');
    for (const [testName, result] of Object.entries(results)) {
      const { status, reason } = asObject(result, testName);
      const name = `${suiteName} > ${testName}`;
      if (status === 'Success') passed++;
      else if (status === 'Failure') {
        failures.push(reason ? `${name}: ${asText(reason)}` : name);
      } else if (status === 'Skipped') {
        skipped.push({ runner: 'forge', name });
      } else {
        throw new Error(`${name} has the unknown status "${asText(status)}"`);
      }
    }
  }
  return toReport(passed, failures, skipped);
}

export function addTotals(all: readonly Totals[]): Totals {
  return all.reduce(
    (sum, next) => ({
      passed: sum.passed + next.passed,
      failed: sum.failed + next.failed,
      skipped: sum.skipped + next.skipped,
    }),
    { passed: 0, failed: 0, skipped: 0 },
  );
}

/** The closing line: `N passed, N failed`, with `, N skipped` only if a test was skipped. */
export function formatTotals({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** Reads a closing line back; `undefined` for any other text. */
export function parseTotalsLine(line: string): Totals | undefined {
  const match = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/.exec(line.trim());
  if (match === null) return undefined;
  const [, passed, failed, skipped] = match;
  return { passed: Number(passed), failed: Number(failed), skipped: Number(skipped ?? 0) };
}
