// The examples in the READMEs of the packages are run: a block marked `ts run` must end without an error. Node takes
// the text on its command line and resolves imports from the package's own folder, so the printed text is what runs.
import { existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { run } from './processes.ts';
import { listWorkspacePackages } from './workspace.ts';

const root = resolve(import.meta.dirname, '../..');

const examples = listWorkspacePackages(root).flatMap(({ dir }) => {
  const readme = join(dir, 'README.md');
  const text = existsSync(readme) ? readFileSync(readme, 'utf8') : '';
  const blocks = [...text.matchAll(/^```ts run\n(.*?)^```$/gms)];
  return blocks.map((block) => ({ dir, where: relative(root, readme), code: block[1] ?? '' }));
});

it('there are examples to run', () => {
  expect(examples.length).toBeGreaterThan(0);
});

it.each(examples)('the example in $where runs', async ({ dir, code }) => {
  const { status, combined } = await run(
    process.execPath,
    ['--conditions=@pool/source', '--input-type=module-typescript', '--eval', code],
    { cwd: dir, output: 'collect' },
  );
  expect(combined).toBe('');
  expect(status).toBe(0);
});
