// The problems of the map itself, independent of the results of the tests.
import type { Statement, TestRef } from './statement.ts';
import { listTestTitles, namesTest, type TitlePath } from './test-titles.ts';

export interface MapInput {
  readonly statements: readonly Statement[];
  readonly allowedUnshown: readonly string[];
  /** The text of a file of the repository; undefined when there is none. */
  readonly readFile: (path: string) => string | undefined;
}

/** One problem per line. Empty if every statement has a test that exists, has an owner, or is on the list of allowed ids. */
export function findProblems({ statements, allowedUnshown, readFile }: MapInput): string[] {
  const ids = statements.map(({ id }) => id);
  const unshown = new Set(
    statements.filter(({ proof }) => proof.kind === 'unshown').map(({ id }) => id),
  );
  const titles = new Map<string, readonly TitlePath[] | undefined>();
  const titlesOf = (file: string): readonly TitlePath[] | undefined => {
    if (!titles.has(file)) {
      const source = readFile(file);
      titles.set(file, source === undefined ? undefined : listTestTitles(source));
    }
    return titles.get(file);
  };

  return [
    ...ids
      .filter((id, index) => ids.indexOf(id) !== index)
      .map((id) => `${id} is in the map twice`),
    ...ids
      .filter((id) => !/^[a-z0-9-]+\.[a-z0-9-]+$/.test(id))
      .map((id) => `${id} is not written like job.replay-same-body`),
    ...statements.flatMap(({ id, proof }) => {
      if (proof.kind !== 'shown') return [];
      if (proof.tests.length === 0) return [`${id} names no test`];
      return proof.tests.flatMap((test) => complainAbout(id, test, titlesOf(test.file)));
    }),
    ...[...unshown]
      .filter((id) => !allowedUnshown.includes(id))
      .map((id) => `${id} has neither a test nor an owner`),
    ...allowedUnshown
      .filter((id) => !unshown.has(id))
      .map(
        (id) => `${id} is shown by a test or no longer exists: remove it from allowed-unshown.ts`,
      ),
  ];
}

function complainAbout(
  id: string,
  { file, name }: TestRef,
  titles: readonly TitlePath[] | undefined,
): string[] {
  if (titles === undefined) return [`${id}: there is no file ${file}`];
  const count = titles.filter((path) => namesTest(name, path)).length;
  if (count === 1) return [];
  return [
    count === 0
      ? `${id}: ${file} has no test "${name}"`
      : `${id}: ${file} has ${count} tests "${name}"; name the suite too`,
  ];
}
