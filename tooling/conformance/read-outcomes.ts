// The results of a run's tests for each statement, from Vitest's JSON report.
import type { Section, Statement, TestRef } from './statement.ts';
import { namesRun } from './test-titles.ts';

/** One test as it ran. */
export interface RanTest {
  /** Relative to the repository. */
  readonly file: string;
  /** Suites and title, filled in. */
  readonly path: readonly string[];
  readonly hasPassed: boolean;
}

export type Outcome = 'pass' | 'fail' | 'unshown' | 'owed';

export interface Row {
  readonly id: string;
  readonly section: string;
  readonly says: string;
  readonly outcome: Outcome;
  /** Why a row failed, or its owner. */
  readonly note?: string;
}

type Json = Readonly<Record<string, unknown>>;

function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}
function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The tests of a report. A test that was skipped has not passed. Throws if the text is not a report. */
export function readRanTests(report: unknown, root: string): readonly RanTest[] {
  const files = asObject(report)['testResults'];
  if (!Array.isArray(files)) throw new Error('this is not a JSON report of Vitest');
  return files.map(asObject).flatMap((file) => {
    const path = asText(file['name']).replace(`${root}/`, '');
    return asArray(file['assertionResults'])
      .map(asObject)
      .map((test) => ({
        file: path,
        path: [...asArray(test['ancestorTitles']).map(asText), asText(test['title'])],
        hasPassed: test['status'] === 'passed',
      }));
  });
}

/** A statement passes when every test it names ran, and every case of it passed. */
function decideRow(section: string, statement: Statement, ran: readonly RanTest[]): Row {
  const { id, says, proof } = statement;
  const row = { id, section, says };
  switch (proof.kind) {
    case 'owed':
      return { ...row, outcome: 'owed', note: proof.to };
    case 'unshown':
      return { ...row, outcome: 'unshown' };
    case 'shown': {
      const reasons = proof.tests.flatMap((test) => explainFailure(test, ran));
      return reasons.length === 0
        ? { ...row, outcome: 'pass' }
        : { ...row, outcome: 'fail', note: reasons.join('; ') };
    }
  }
}

function explainFailure({ file, name }: TestRef, ran: readonly RanTest[]): string[] {
  const runs = ran.filter((test) => test.file === file && namesRun(name, test.path));
  const passed = runs.filter(({ hasPassed }) => hasPassed).length;
  if (runs.length > 0 && passed === runs.length) return [];
  const what = runs.length === 0 ? 'did not run' : `${passed} of ${runs.length} passed`;
  return [`${file} > ${name}: ${what}`];
}

export function decideRows(sections: readonly Section[], ran: readonly RanTest[]): readonly Row[] {
  return sections.flatMap(({ title, statements }) =>
    statements.map((statement) => decideRow(title, statement, ran)),
  );
}

export type Totals = Readonly<Record<Outcome, number>>;

export function countOutcomes(rows: readonly Row[]): Totals {
  const count = (outcome: Outcome): number => rows.filter((row) => row.outcome === outcome).length;
  return {
    pass: count('pass'),
    fail: count('fail'),
    unshown: count('unshown'),
    owed: count('owed'),
  };
}
