// The README's table is generated from the table of variables: each has one row.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  renderConfigTable,
  replaceConfigTable,
} from '../../../../packages/configuration/src/table.ts';
import { allVariables } from './variables.ts';

describe('the table of variables', () => {
  it("has one row per variable, with the agent's default", () => {
    const rows = renderConfigTable(allVariables, '<agent directory>').split('\n');
    for (const { name } of allVariables) {
      expect(rows.filter((row) => row.startsWith(`| \`${name}\` |`))).toHaveLength(1);
    }
    expect(rows.find((row) => row.includes('DISBURSE_CHAINS_FILE'))).toContain(
      '`<agent directory>/chains.json`',
    );
    expect(rows.find((row) => row.includes('`DISBURSE_PLATFORM_URL`'))).toContain('**required**');
    expect(rows.find((row) => row.includes('`DISBURSE_SEND_TOKEN`'))).toContain(
      '| secret, token |',
    );
  });

  it('is the one in the README', () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    expect(replaceConfigTable(readme, renderConfigTable(allVariables, '<agent directory>'))).toBe(
      readme,
    );
  });

  it('refuses a document without its markers', () => {
    expect(() => replaceConfigTable('# Agent', 'table')).toThrow('markers');
  });
});
