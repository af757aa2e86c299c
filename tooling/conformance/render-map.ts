// The map as text: docs/conformance.md, and the output of `pnpm conformance`.
import { countOutcomes, type Row } from './read-outcomes.ts';
import type { Proof, Section } from './statement.ts';

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

/** Tests file by file, each file once, as links out of `docs/`. */
function describeProof(proof: Proof): string {
  if (proof.kind === 'owed') return `owed: ${proof.to}`;
  if (proof.kind === 'unshown') return '**nothing yet**';
  const files = [...new Set(proof.tests.map(({ file }) => file))];
  return files
    .map((file) => {
      const names = proof.tests.filter((test) => test.file === file).map(({ name }) => name);
      const base = file.slice(file.lastIndexOf('/') + 1);
      return `[${base}](../${file}): ${names.map((name) => `“${name}”`).join(', ')}`;
    })
    .join('; ');
}

/** docs/conformance.md. It names the tests of each statement. A run shows whether they pass. */
export function renderDocument(sections: readonly Section[]): string {
  const all = sections.flatMap(({ statements }) => statements);
  const count = (kind: Proof['kind']): number =>
    all.filter(({ proof }) => proof.kind === kind).length;
  const tables = sections.map(({ title, statements }) =>
    [
      `## ${title}`,
      '',
      '| id | statement | shown by |',
      '|---|---|---|',
      ...statements.map(
        ({ id, says, proof }) => `| \`${id}\` | ${cell(says)} | ${cell(describeProof(proof))} |`,
      ),
    ].join('\n'),
  );
  return [
    '# Conformance',
    '',
    '<!-- Written by `pnpm generate` from tooling/conformance; do not edit. -->',
    '',
    'Every statement of the service contract about this software, in our words, with the test that shows it.',
    `There are ${all.length}: ${count('shown')} are shown by tests, ${count('owed')} belong to work that is not built yet and will come`,
    `with it, and ${count('unshown')} have no test yet.`,
    '',
    '`pnpm conformance` starts the sandbox, runs these tests and prints the map with pass or fail in each row. Every run of CI',
    'does the same from its own tests. A check fails if a row names no test or a test that does not exist.',
    '',
    tables.join('\n\n'),
    '',
  ].join('\n');
}

const marks = { pass: 'pass   ', fail: 'FAIL   ', unshown: 'unshown', owed: 'owed   ' } as const;

/** One line per row, and the closing total. */
export function renderRows(rows: readonly Row[]): string {
  const lines: string[] = [];
  let section = '';
  for (const row of rows) {
    if (row.section !== section) {
      section = row.section;
      lines.push('', section);
    }
    lines.push(`  ${marks[row.outcome]}  ${row.id}  ${row.says}`);
    if (row.note !== undefined) lines.push(`           ${row.note}`);
  }
  const { pass, fail, unshown, owed } = countOutcomes(rows);
  lines.push('', `${pass} passed, ${fail} failed, ${unshown} unshown, ${owed} owed`);
  return lines.join('\n');
}
