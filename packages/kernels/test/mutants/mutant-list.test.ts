import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { expandTemplates } from './mutant.ts';
import { mutants } from './mutant-list.ts';

it.each(mutants)('the mutant "$name" finds its text exactly once in $file', (mutant) => {
  const source = readFileSync(new URL(`../../${mutant.file}`, import.meta.url), 'utf8');
  expect(source.split(expandTemplates(mutant.find))).toHaveLength(2);
  expect(mutant.replace).not.toBe(mutant.find);
  for (const test of mutant.tests) {
    const folder = fileURLToPath(new URL('../..', import.meta.url));
    expect(globSync(`${test}*.test.ts`, { cwd: folder })).not.toEqual([]);
  }
});
