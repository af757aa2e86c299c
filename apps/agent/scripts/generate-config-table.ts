// Draws the table of variables into README.md, from the configuration's schema. `--check` only compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { renderConfigTable, replaceConfigTable } from '@pool/configuration';
import { allVariables } from '../src/config/variables.ts';

const document = new URL('../README.md', import.meta.url);
const before = readFileSync(document, 'utf8');
const after = replaceConfigTable(before, renderConfigTable(allVariables, '<agent directory>'));

if (process.argv.includes('--check')) {
  if (before !== after) {
    process.stderr.write(
      'the configuration table in apps/agent/README.md is not up to date: run `pnpm generate`\n',
    );
    process.exitCode = 1;
  }
} else if (before !== after) {
  writeFileSync(document, after);
}
