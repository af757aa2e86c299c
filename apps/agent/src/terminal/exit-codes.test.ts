/** The exit codes of the commands and their table in README.md. */
import { readFileSync } from 'node:fs';
import { exitCodes } from '@pool/pay-run';
import { expect, it } from 'vitest';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

it('are the rows of the table in README.md, in order, each with a meaning', () => {
  const [, section = ''] = /### Exit codes\n([\s\S]*?)\n###/.exec(readme) ?? [];
  const rows = [...section.matchAll(/^\| (\d+) \| (.{10,}) \|$/gm)];
  expect(rows.map(([, code]) => Number(code))).toEqual(Object.values(exitCodes));
});
