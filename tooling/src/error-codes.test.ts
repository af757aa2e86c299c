// What each package and app declares in its src/errors.ts.
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ErrorGroup } from '@pool/core';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const rooms = await Promise.all(
  globSync('{packages,apps}/*/src/errors.ts', { cwd: root }).map(async (file) => {
    const { errors } = (await import(join(root, file))) as { errors: readonly ErrorGroup[] };
    return [file, errors] as const;
  }),
);
const rows = rooms.flatMap(([, groups]) =>
  groups.flatMap(({ meanings, ...entry }) =>
    Object.entries(meanings).map(([code, meaning]) => ({ code, meaning, ...entry })),
  ),
);
const codes = rows.map(({ code }) => code);

/** No test names them. An entry that a test names must leave the list. */
const untested = [
  'deployment_differs',
  'expectation_failed',
  'invalid_scope',
  'loopback_token_missing',
  'method_not_allowed',
  'request_timeout',
  'spend_not_found',
];

function readAll(pattern: string): string {
  const files = globSync(pattern, { cwd: root });
  return files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
}

describe('the declared error codes', () => {
  it('has each code in one group', () => {
    expect(codes.filter((code, index) => codes.indexOf(code) !== index)).toEqual([]);
  });

  it('states for each code what happened and what to do, with no meaning twice in a package', () => {
    for (const { code, meaning } of rows) {
      expect(meaning, code).toMatch(/^[A-Z-].{15,}[.;] [A-Za-z].{6,}\.$/s);
    }
    for (const [file, groups] of rooms) {
      const meanings = groups.flatMap((group) => Object.values(group.meanings));
      expect(
        meanings.filter((meaning, index) => meanings.indexOf(meaning) !== index),
        file,
      ).toEqual([]);
    }
  });

  it('asks to retry only what is not a mistake of the caller', () => {
    for (const { code, status, retry } of rows) {
      if (retry === true && status !== undefined) {
        expect([408, 429, 502, 503, 504], code).toContain(status);
      }
    }
  });

  it('is provoked by a test, each code but those of the list', () => {
    const tests = readAll('{apps,packages}/*/{src,test}/**/*.test.ts');
    const unnamed = codes.filter((code) => !new RegExp(`[^\\w-]${code}[^\\w-]`).test(tests));
    expect(unnamed.sort()).toEqual(untested);
  });
});
