import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { fullTests, slowEndToEndTests, slowUnitTests } from './slow-tests.ts';

const root = resolve(import.meta.dirname, '../..');

/** `a/{b,c}.test.ts` as its two paths. */
function expandBraces(pattern: string): string[] {
  const [, before = '', names = '', after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(pattern) ?? [];
  return names === '' ? [pattern] : names.split(',').map((name) => `${before}${name}${after}`);
}

it.each([...slowUnitTests, ...slowEndToEndTests, ...fullTests].flatMap(expandBraces))(
  'the list of slow tests names the existing file %s',
  (path) => {
    expect(globSync(path, { cwd: root })).toEqual([path]);
  },
);
