import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errorGroups } from '@pool/core';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

it('each code of a payment is provoked by a test', () => {
  const files = globSync('{apps,packages}/*/{src,test}/**/*.test.ts', { cwd: root });
  const tests = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
  const unnamed = Object.keys(errorGroups.Payments).filter(
    (code) => !new RegExp(`[^\\w-]${code}[^\\w-]`).test(tests),
  );
  expect(unnamed).toEqual([]);
});
