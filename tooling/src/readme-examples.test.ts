// The examples in the READMEs are compiled and run: a block marked `ts run` has no type error under the strict options of this
// repository, and ends without an error or output. It is compiled and run in the folder of its package, so that it
// resolves imports as a program does that depends on the package.
import { existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { run } from './processes.ts';
import { listWorkspacePackages } from './workspace.ts';

const root = resolve(import.meta.dirname, '../..');

const examples = listWorkspacePackages(root).flatMap(({ dir }) => {
  const readme = join(dir, 'README.md');
  const text = existsSync(readme) ? readFileSync(readme, 'utf8') : '';
  const blocks = [...text.matchAll(/^```ts run\n(.*?)^```$/gms)];
  return blocks.map((block, at) => ({
    dir,
    where: `${relative(root, readme)}, block ${at + 1}`,
    file: join(dir, `readme-${at + 1}.ts`),
    code: block[1] ?? '',
  }));
});

/** Type errors of all examples, compiled as one program whose files exist in memory only. */
function findTypeErrors(): string[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) =>
    ts.sys.readFile(path),
  );
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const host = ts.createCompilerHost(options);
  const codeOf = (file: string): string | undefined =>
    examples.find((example) => example.file === file)?.code;
  const program = ts.createProgram({
    rootNames: examples.map(({ file }) => file),
    options: { ...options, noEmit: true },
    host: {
      ...host,
      fileExists: (file) => codeOf(file) !== undefined || host.fileExists(file),
      readFile: (file) => codeOf(file) ?? host.readFile(file),
      getSourceFile: (file, version, ...rest) => {
        const code = codeOf(file);
        return code === undefined
          ? host.getSourceFile(file, version, ...rest)
          : ts.createSourceFile(file, code, version);
      },
    },
  });
  return examples.flatMap(({ file, where }) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(file))
      .map(({ messageText }) => `${where}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`),
  );
}

it('there are examples, and they compile', () => {
  expect(examples.length).toBeGreaterThan(0);
  expect(findTypeErrors()).toEqual([]);
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
