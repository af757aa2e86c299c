// Every statement of the service contract (requirements.json: section by section, id and statement), and the tests that show it.
// A test names the requirements that it shows at the end of its title: `refuses an unknown field [request.fields]`. A
// requirement is met when at least one test with its id ran, and every one of them passed.
import { readFileSync } from 'node:fs';

export interface Section {
  readonly section: string;
  /** By id, such as `job.replay-same-body`. */
  readonly statements: Readonly<Record<string, string>>;
}

export const requirements = JSON.parse(
  readFileSync(new URL('requirements.json', import.meta.url), 'utf8'),
) as readonly Section[];

const id = '[a-z0-9-]+\\.[a-z0-9-]+';
const ids = `\\[(${id}(?:, ${id})*)\\]`;

/** The ids at the end of a title. */
export function readIds(title: string): readonly string[] {
  return new RegExp(`${ids}$`).exec(title)?.[1]?.split(', ') ?? [];
}

/** The ids in the titles of a test file's source. */
export function listIds(source: string): readonly string[] {
  return [...source.matchAll(new RegExp(`${ids}['"\`]`, 'g'))].flatMap(([, list = '']) =>
    list.split(', '),
  );
}

export interface RanTest {
  readonly name: string;
  readonly title: string;
  readonly hasPassed: boolean;
}

export interface Row {
  readonly id: string;
  readonly section: string;
  readonly says: string;
  readonly outcome: 'pass' | 'FAIL' | 'owed';
  /** Names of the tests that did not pass. */
  readonly failed: readonly string[];
}

/** One row per requirement. `owed`: no test with its id ran. */
export function judge(sections: readonly Section[], ran: readonly RanTest[]): readonly Row[] {
  const testsOf = new Map<string, RanTest[]>();
  for (const test of ran) {
    for (const each of readIds(test.title)) {
      testsOf.set(each, [...(testsOf.get(each) ?? []), test]);
    }
  }
  return sections.flatMap(({ section, statements }) =>
    Object.entries(statements).map(([each, says]) => {
      const tests = testsOf.get(each) ?? [];
      const failed = tests.filter(({ hasPassed }) => !hasPassed).map(({ name }) => name);
      const outcome = tests.length === 0 ? 'owed' : failed.length === 0 ? 'pass' : 'FAIL';
      return { id: each, section, says, outcome, failed };
    }),
  );
}

/** Ids that no test names, and ids of tests that are in no section. */
export function findProblems(sections: readonly Section[], sources: readonly string[]): string[] {
  const known = new Set(sections.flatMap(({ statements }) => Object.keys(statements)));
  const named = new Set(sources.flatMap(listIds));
  return [
    ...[...known].filter((each) => !named.has(each)).map((each) => `no test names ${each}`),
    ...[...named]
      .filter((each) => !known.has(each))
      .map((each) => `a test names ${each}, which is not in requirements.json`),
  ];
}
