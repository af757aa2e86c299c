// The map is correct: it names tests that exist, every statement has a test or an owner, and the document equals
// the map.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allowedUnshown } from './allowed-unshown.ts';
import { findProblems } from './find-problems.ts';
import { countOutcomes, decideRows, readRanTests } from './read-outcomes.ts';
import { renderDocument, renderRows } from './render-map.ts';
import {
  accountOperations,
  type Proof,
  type Section,
  section,
  shown,
  testsOf,
  unshown,
} from './statement.ts';
import { sections, statements } from './statements.ts';
import { listTestTitles, namesRun, namesTest } from './test-titles.ts';

const root = resolve(import.meta.dirname, '../..');

function readFile(path: string): string | undefined {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

describe('the map', () => {
  it('names tests that exist, and omits no statement that is not on the list', () => {
    expect(findProblems({ statements, allowedUnshown: allowedUnshown, readFile })).toEqual([]);
    expect(statements.length).toBeGreaterThan(150);
  });

  it('equals docs/conformance.md', () => {
    expect(readFile('docs/conformance.md')).toBe(renderDocument(sections));
  });
});

const source = `
  describe('a job', () => {
    it('ends', () => {});
    it.each([[1], [2]])('takes %i of $what', () => {});
    describe.skipIf(no)('late', () => { test('ends', async () => {}); });
  });
  it.each<[string]>([['x']])('alone %s', () => {});
  it(\`costs \${price} a piece\`, () => {});
  // it('in a comment', () => {});
  say("it('in a string', () => {})");
`;

describe('test titles', () => {
  it('are read with their suites, each table once', () => {
    expect(listTestTitles(source)).toEqual([
      ['a job', 'ends'],
      ['a job', 'takes %i of $what'],
      ['a job', 'late', 'ends'],
      ['alone %s'],
      ['costs %s a piece'],
    ]);
  });

  it('are named by their end, as written or as they ran', () => {
    expect(namesTest('ends', ['a job', 'late', 'ends'])).toBe(true);
    expect(namesTest('late > ends', ['a job', 'late', 'ends'])).toBe(true);
    expect(namesTest('late > ends', ['a job', 'ends'])).toBe(false);
    expect(namesTest('nds', ['a job', 'ends'])).toBe(false);
    expect(namesRun('takes %i of $what', ['a job', 'takes 2 of cake'])).toBe(true);
    expect(namesRun('takes %i of $what', ['a job', 'takes 2'])).toBe(false);
    expect(namesRun('costs %s a piece', ['costs 2 a piece'])).toBe(true);
    expect(namesRun('a job > ends', ['ends'])).toBe(false);
    expect(namesRun('a.b (c)', ['axb (c)'])).toBe(false);
  });
});

const inFile = testsOf('a.test.ts');
function mapOf(proof: Proof, id = 'job.ends'): readonly Section[] {
  return [section('Jobs', [[id, 'A job | ends.', proof]])];
}

describe('findProblems', () => {
  const problemsOf = (map: readonly Section[], allowedUnshown: readonly string[] = []) =>
    findProblems({
      statements: map.flatMap((part) => part.statements),
      allowedUnshown,
      readFile: (path) => (path === 'a.test.ts' ? source : undefined),
    });

  it.each<[string, readonly Section[], string[], string | undefined]>([
    ['a test that exists', mapOf(shown(inFile('late > ends'))), [], undefined],
    ['an owner', mapOf(accountOperations), [], undefined],
    ['an entry on the list of allowed ids', mapOf(unshown), ['job.ends'], undefined],
    ['a test that is gone', mapOf(shown(inFile('gone'))), [], 'has no test "gone"'],
    ['a test of two', mapOf(shown(inFile('ends'))), [], 'has 2 tests "ends"'],
    ['a file that is gone', mapOf(shown(testsOf('b.test.ts')('x'))), [], 'no file b.test.ts'],
    ['no test at all', mapOf(shown()), [], 'names no test'],
    ['nothing', mapOf(unshown), [], 'neither a test nor an owner'],
    [
      'an entry on the list that it does not need',
      mapOf(accountOperations),
      ['job.ends'],
      'remove it from allowed-unshown.ts',
    ],
    ['an id of another form', mapOf(accountOperations, 'Job ends'), [], 'is not written like'],
    ['an id twice', [...mapOf(accountOperations), ...mapOf(accountOperations)], [], 'twice'],
  ])('judges a statement with %s', (_what, map, allowed, problem) => {
    const problems = problemsOf(map, allowed);
    expect(problems).toEqual(problem === undefined ? [] : [expect.stringContaining(problem)]);
  });
});

describe('a run', () => {
  const report = (...statuses: readonly string[]) => ({
    testResults: [
      {
        name: '/repository/a.test.ts',
        assertionResults: statuses.map((status, index) => ({
          ancestorTitles: ['a job'],
          title: `takes ${index} of cake`,
          status,
        })),
      },
    ],
  });
  const outcomeOf = (name: string, ...statuses: readonly string[]) => {
    const ran = readRanTests(report(...statuses), '/repository');
    return decideRows(mapOf(shown(inFile(name))), ran)[0];
  };

  it('passes a row when every case of every test has passed', () => {
    const name = 'a job > takes %i of $what';
    expect(outcomeOf(name, 'passed', 'passed')?.outcome).toBe('pass');
    expect(outcomeOf(name, 'passed', 'failed')).toMatchObject({
      outcome: 'fail',
      note: expect.stringContaining('1 of 2 passed'),
    });
    expect(outcomeOf(name, 'passed', 'skipped')?.outcome).toBe('fail');
    expect(outcomeOf('ends', 'passed')).toMatchObject({
      outcome: 'fail',
      note: expect.stringContaining('did not run'),
    });
    expect(() => readRanTests({}, '/repository')).toThrow('not a JSON report');
  });

  it('is printed row by row, with a closing total', () => {
    const ran = readRanTests(report('passed'), '/repository');
    const map = [
      ...mapOf(shown(inFile('takes %i of $what'))),
      ...mapOf(unshown, 'job.starts'),
      ...mapOf(accountOperations, 'job.rests'),
    ];
    const rows = decideRows(map, ran);
    expect(countOutcomes(rows)).toEqual({ pass: 1, fail: 0, unshown: 1, owed: 1 });
    expect(renderRows(rows).split('\n').at(-1)).toBe('1 passed, 0 failed, 1 unshown, 1 owed');
    expect(renderRows(rows)).toContain('pass     job.ends  A job | ends.');
  });

  it('is documented in a table that a bar does not break', () => {
    expect(renderDocument(mapOf(shown(inFile('late > ends'))))).toContain(
      '| `job.ends` | A job \\| ends. | [a.test.ts](../a.test.ts): “late > ends” |',
    );
  });
});
