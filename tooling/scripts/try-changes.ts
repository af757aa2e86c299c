// Tries the example changes of CONTRIBUTING.md ("Three changes, file by file"): node tooling/scripts/try-changes.ts [name]
//
// Each patch of tooling/changes is applied to a copy of the repository. The whole patch compiles and its tests pass. Then one file of it
// at a time is left out, as if it had been forgotten: the compiler or one of the patch's tests must fail. So a tool finds an
// incomplete change, and the patches show which files such a change touches.
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parsePatch } from '../src/patches.ts';
import { run } from '../src/processes.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'tooling/changes');
const leftOut = new Set(['.git', '.cache', 'dist', '.sandbox', 'out', 'cache']);

/** The repository with its workspace links, which point into the copy, and the installed packages of the original. */
function copyRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), 'pool-changes-'));
  cpSync(root, copy, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => path !== join(root, 'node_modules') && !leftOut.has(basename(path)),
  });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** What was printed about one change, and how many problems it has. */
type Report = { readonly text: string; readonly problems: number };

/** Tries one change in a copy of its own. */
async function tryChange(name: string): Promise<Report> {
  const copy = copyRepository();
  const bin = join(root, 'node_modules/.bin');
  const path = join(folder, `${name}.patch`);
  const { title, tests, files } = parsePatch(readFileSync(path, 'utf8'));
  let text = `${name}: ${title}\n`;
  let problems = 0;

  async function apply(...options: readonly string[]): Promise<void> {
    const { status, combined } = await run('git', ['apply', ...options, path], {
      cwd: copy,
      output: 'collect',
    });
    if (status !== 0) {
      throw new Error(
        `${basename(path)} does not apply. Make the change again on the current sources and write a new patch:\n${combined}`,
      );
    }
  }
  async function compile(): Promise<string | undefined> {
    const args = ['--incremental', '--tsBuildInfoFile', join(copy, 'tsc.info'), '-p', copy];
    const { status, combined } = await run(join(bin, 'tsc'), args, {
      cwd: copy,
      output: 'collect',
    });
    return status === 0 ? undefined : combined;
  }
  async function runTests(paths: readonly string[]): Promise<string | undefined> {
    const { status, combined } = await run(join(bin, 'vitest'), ['run', ...paths], {
      cwd: copy,
      output: 'collect',
      env: { NO_COLOR: '1' },
    });
    return status === 0 ? undefined : combined;
  }
  function report(ok: boolean, line: string): void {
    text += `  ${ok ? 'ok  ' : 'FAIL'} ${line}\n`;
    if (!ok) problems += 1;
  }

  try {
    const before = await compile();
    if (before !== undefined) throw new Error(`the sources do not compile:\n${before}`);
    await apply();
    const wrong = (await compile()) ?? (await runTests(tests));
    report(wrong === undefined, `the whole change compiles and passes ${tests.length} test files`);
    text += wrong === undefined ? '' : `${wrong}\n`;
    for (const file of files) {
      const only = `--include=${file}`;
      await apply('--reverse', only);
      const found =
        (await compile()) !== undefined
          ? 'the compiler'
          : (await runTests(tests.filter((test) => existsSync(join(copy, test))))) !== undefined
            ? 'a test'
            : undefined;
      report(found !== undefined, `without ${file}: ${found ?? 'nothing'} complains`);
      await apply(only);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  return { text, problems };
}

/** Tries all changes, two at a time: a compiler uses one core. */
async function tryChanges(names: readonly string[]): Promise<number> {
  const rest = names.values();
  let problems = 0;
  async function work(): Promise<void> {
    for (const name of rest) {
      const report = await tryChange(name);
      process.stdout.write(report.text);
      problems += report.problems;
    }
  }
  await Promise.all([work(), work()]);
  return problems;
}

const all = readdirSync(folder)
  .filter((name) => name.endsWith('.patch'))
  .map((name) => basename(name, '.patch'))
  .sort();
const [only] = process.argv.slice(2);
const problems = await tryChanges(only === undefined ? all : [only]);
if (problems > 0) process.exitCode = 1;
