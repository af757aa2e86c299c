// How every published package is built: ES modules for Node with their type declarations, from src/index.ts, from the
// source of each command the package installs (`bin`), and from each worker thread's own file (`*-worker.ts`, which
// is written beside the module that starts it). Run from the package's folder.
import { existsSync, globSync } from 'node:fs';
import { basename } from 'node:path';
import { defineConfig } from 'tsup';
import { readManifest } from './src/workspace.ts';

const { bin = {} } = readManifest(process.cwd());
const commands = (typeof bin === 'string' ? [bin] : Object.values(bin)).map(
  (file) => `src/${basename(file, '.js')}.ts`,
);
const library = 'src/index.ts';
const sources = [
  ...(existsSync(library) ? [library] : []),
  ...commands,
  ...globSync('src/**/*-worker.ts'),
];

export default defineConfig({
  entry: Object.fromEntries(sources.map((source) => [basename(source, '.ts'), source])),
  format: 'esm',
  target: 'node22',
  platform: 'node',
  // `node:sqlite` exists under that name only.
  removeNodeProtocol: false,
  tsconfig: '../../tsconfig.json',
  dts: existsSync(library) && {
    entry: library,
    compilerOptions: { noEmit: false, declaration: true, emitDeclarationOnly: true },
  },
  splitting: true,
  sourcemap: true,
  clean: true,
});
