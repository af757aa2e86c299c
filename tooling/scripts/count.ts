// `pnpm count` prints what tooling/src/count.ts counts; `--json` prints the same figures as JSON.
import { countAll } from '../src/count.ts';

const rows = [...countAll()].sort(([a], [b]) => a.localeCompare(b));
const total = rows.reduce(
  (sum, [, row]) => ({
    files: sum.files + row.files,
    source: sum.source + row.source,
    tests: sum.tests + row.tests,
    words: sum.words + row.words,
  }),
  { files: 0, source: 0, tests: 0, words: 0 },
);
if (process.argv.includes('--json')) {
  process.stdout.write(`${JSON.stringify({ rooms: Object.fromEntries(rows), total })}\n`);
} else {
  const line = (cells: readonly (string | number)[]): string =>
    cells.map((cell, at) => (at === 0 ? `${cell}`.padEnd(26) : `${cell}`.padStart(9))).join('');
  const head = line(['', 'files', 'source', 'tests', 'words']);
  const body = [...rows, ['total', total] as const].map(([room, { files, source, tests, words }]) =>
    line([room, files, source, tests, words]),
  );
  process.stdout.write(`${[head, ...body].join('\n')}\n`);
}
