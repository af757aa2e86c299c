/**
 * Applies each mutant of `mutant-list.ts` to a copy of this package and requires that a Foundry test fails: a test
 * that cannot fail is a defect. It takes minutes and is not part of `pnpm test`.
 *
 * Usage: node test/mutants/mutants.ts [part of a mutant's name …]
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findForge } from '../../scripts/forge.ts';
import { mutants } from './mutant-list.ts';

const source = fileURLToPath(new URL('../..', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'pool-mutants-'));
const copy = join(root, 'packages/contracts');
for (const part of ['foundry.toml', 'solc-shim', 'package.json', 'solidity', 'test']) {
  cpSync(join(source, part), join(copy, part), { recursive: true });
}
cpSync(join(source, '../../vectors'), join(root, 'vectors'), { recursive: true });
symlinkSync(join(source, 'node_modules'), join(copy, 'node_modules'));

/** Exit status and output of the unit and fuzz tests in the copy. */
function test() {
  return spawnSync(findForge(), ['test', '--no-match-contract', 'Invariants', '--fail-fast'], {
    cwd: copy,
    encoding: 'utf8',
  });
}

const wanted = process.argv.slice(2);
const survivors: string[] = [];
try {
  if (test().status !== 0) throw new Error('the tests fail before any mutant is applied');
  for (const { name, file, find, replace } of mutants) {
    if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) continue;
    const path = join(copy, file);
    const original = readFileSync(path, 'utf8');
    if (!original.includes(find))
      throw new Error(`${name}: ${file} does not contain the text to replace`);
    writeFileSync(
      path,
      original.replace(find, () => replace),
    );
    const { status, stdout, stderr } = test();
    writeFileSync(path, original);
    if (/Compiler run failed/.test(stdout + stderr)) throw new Error(`${name}: does not compile`);
    const failure = /\[FAIL.*\] (\w+)\(/.exec(stdout)?.[1];
    process.stdout.write(`${status === 0 ? 'SURVIVED' : 'caught'}  ${name}  ${failure ?? ''}\n`);
    if (status === 0) survivors.push(name);
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}
process.stdout.write(`${String(survivors.length)} survived\n`);
if (survivors.length > 0) process.exitCode = 1;
