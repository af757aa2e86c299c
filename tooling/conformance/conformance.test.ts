import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  findProblems,
  judge,
  listIds,
  readIds,
  requirements,
  type Section,
} from './requirements.ts';

const root = resolve(import.meta.dirname, '../..');
const sections: readonly Section[] = [
  { section: 'Jobs', statements: { 'job.ends': 'A job ends.', 'job.starts': 'A job starts.' } },
];

describe('the requirements', () => {
  it('are each named by a test, and tests name no other', () => {
    const sources = execFileSync('git', ['ls-files', '*.test.ts'], { cwd: root, encoding: 'utf8' })
      .split('\n')
      .filter((path) => path !== '' && path !== 'tooling/conformance/conformance.test.ts')
      .map((path) => join(root, path))
      .filter((path) => existsSync(path))
      .map((path) => readFileSync(path, 'utf8'));
    expect(findProblems(requirements, sources)).toEqual([]);
    expect(requirements.flatMap(({ statements }) => Object.keys(statements)).length).toBe(290);
  });

  it('are read from the ends of titles', () => {
    expect(readIds('ends [job.ends, job.starts]')).toEqual(['job.ends', 'job.starts']);
    expect(readIds('takes [a, b] and [job.ends] more')).toEqual([]);
    const titles = ["it('ends [job.ends]', () => {});", 'it(`b [job.starts, job.ends]`)'];
    expect(listIds(titles.join('\n'))).toEqual(['job.ends', 'job.starts', 'job.ends']);
  });

  it('without a test, and unknown ids of tests, are problems', () => {
    expect(findProblems(sections, ["it('a [job.ends, job.rests]')"])).toEqual([
      'no test names job.starts',
      'a test names job.rests, which is not in requirements.json',
    ]);
  });
});

describe('a run', () => {
  const test = (title: string, hasPassed: boolean) => ({ name: `a > ${title}`, title, hasPassed });
  const outcomes = (...tests: Parameters<typeof judge>[1]) =>
    judge(sections, tests).map(({ id, outcome, failed }) => [id, outcome, ...failed]);

  it('meets a requirement when every test with its id has passed, and at least one ran', () => {
    expect(outcomes(test('1 [job.ends]', true), test('2 [job.ends, job.starts]', true))).toEqual([
      ['job.ends', 'pass'],
      ['job.starts', 'pass'],
    ]);
    expect(outcomes(test('1 [job.ends]', true), test('2 [job.ends]', false))).toEqual([
      ['job.ends', 'FAIL', 'a > 2 [job.ends]'],
      ['job.starts', 'owed'],
    ]);
  });
});
