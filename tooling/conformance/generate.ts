// Writes docs/conformance.md. `--check` only compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { renderDocument } from './render-map.ts';
import { sections } from './statements.ts';

const path = join(resolve(import.meta.dirname, '../..'), 'docs/conformance.md');

function readDocument(): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

const after = renderDocument(sections);
if (readDocument() !== after) {
  if (process.argv.includes('--check')) {
    process.stderr.write('docs/conformance.md is not up to date: run `pnpm generate`\n');
    process.exitCode = 1;
  } else {
    writeFileSync(path, after);
  }
}
