/**
 * Applies each mutant of `mutant-list.ts` to a copy of this package and requires that a test fails, or that the generator refuses to
 * write the kernel: a test that cannot fail is a defect. It takes minutes and is not part of `pnpm test`.
 *
 * Usage: pnpm --filter @pool/kernels run mutants [parts of mutants' names]
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { expandTemplates } from './mutant.ts';
import { mutants } from './mutant-list.ts';

const parts = ['package.json', 'codegen', 'src', 'scripts', 'test'];
/** A broken kernel may run forever. */
const timeoutMs = 600_000;

const repository = fileURLToPath(new URL('../../../..', import.meta.url));
const source = join(repository, 'packages/kernels');
const root = mkdtempSync(join(tmpdir(), 'pool-kernel-mutants-'));
const copy = join(root, 'packages/kernels');
for (const part of parts) cpSync(join(source, part), join(copy, part), { recursive: true });
for (const part of ['package.json', 'vitest.config.ts']) {
  cpSync(join(repository, part), join(root, part));
}
for (const part of ['node_modules', 'tooling'])
  symlinkSync(join(repository, part), join(root, part));
symlinkSync(join(source, 'node_modules'), join(copy, 'node_modules'));

function node(folder: string, ...words: string[]) {
  return spawnSync(process.execPath, ['--conditions=@pool/source', ...words], {
    cwd: folder,
    encoding: 'utf8',
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
}

const vitest = join(repository, 'node_modules/vitest/vitest.mjs');

/** Builds the kernels and runs the tests. Returns the first failure, or undefined. */
function findFailure(tests: readonly string[]): string | undefined {
  if (node(copy, 'scripts/build-wasm.ts').status !== 0) return 'the generator';
  const files = tests.map((test) => `packages/kernels/${test}.test.ts`);
  const run = node(
    root,
    vitest,
    'run',
    '--project=unit',
    '--project=unit-slow',
    '--bail=1',
    ...files,
  );
  if (run.status === 0) return undefined;
  if (run.status === null) return 'a test that did not end';
  return /FAIL.* > (.+)/.exec(stripVTControlCharacters(run.stdout + run.stderr))?.[1] ?? 'a test';
}

const wanted = process.argv.slice(2);
const chosen = mutants.filter(
  ({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
);
const survivors: string[] = [];
try {
  const healthy = findFailure([...new Set(chosen.flatMap(({ tests }) => tests))]);
  if (healthy !== undefined)
    throw new Error(`the tests fail before any mutant is applied: ${healthy}`);
  for (const { name, file, tests, ...texts } of chosen) {
    const find = expandTemplates(texts.find);
    const replace = expandTemplates(texts.replace);
    const path = join(copy, file);
    const original = readFileSync(path, 'utf8');
    if (!original.includes(find))
      throw new Error(`${name}: ${file} does not contain the text to replace`);
    writeFileSync(
      path,
      original.replace(find, () => replace),
    );
    const failure = findFailure(tests);
    writeFileSync(path, original);
    process.stdout.write(
      `${failure === undefined ? 'SURVIVED' : 'caught'}  ${name}  ${failure ?? ''}\n`,
    );
    if (failure === undefined) survivors.push(name);
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}
process.stdout.write(`${chosen.length} mutants, ${survivors.length} survived\n`);
if (survivors.length > 0) process.exitCode = 1;
