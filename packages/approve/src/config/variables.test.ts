/** The table of variables and its rendering in README.md. */
import { readFileSync } from 'node:fs';
import type { ConfigVariable } from '@pool/configuration';
import { expect, it } from 'vitest';
import { variables } from './variables.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const rows = Object.values(variables).flatMap((table): ConfigVariable<unknown>[] =>
  Object.values(table),
);

function renderRow(variable: ConfigVariable<unknown>): string {
  const { name, role, purpose, kind, fallback, whenUnset, isRequired, credential } = variable;
  const given = fallback?.('~/.pool-approve');
  const standard = Array.isArray(given) ? 'none' : `\`${String(given)}\``;
  const unset = isRequired === true ? 'required' : (whenUnset ?? standard);
  const file = credential === undefined ? '' : ', `_FILE`';
  return `| \`${name}\`${file} | ${role} | ${purpose} | ${kind.label} | ${unset} |`;
}

it('are the rows of the table in README.md, in order', () => {
  const [, section = ''] = /## Variables\n([\s\S]*?)\n## /.exec(readme) ?? [];
  const shown = section.split('\n').filter((line) => line.startsWith('| `'));
  const expected = rows.filter(({ role }) => role !== 'tests').map(renderRow);
  expect(shown).toEqual(expected);
});

it('have names of their own, and those of one custodian its prefix', () => {
  const names = rows.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { name, role } of rows) {
    const isOfOne = role === 'custodian_a' || role === 'custodian_b';
    expect(name.startsWith(isOfOne ? `APPROVE_${role.toUpperCase()}_` : 'APPROVE_')).toBe(true);
  }
});
