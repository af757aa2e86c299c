// How every published package, and every private one that a service contains, is built: ES modules for Node, with type declarations unless
// the package is private, from the source of each export, from the source of each command the package installs (`bin`), and from each worker
// thread's own file (`*-worker.ts`, which is written beside the module that starts it). Run from the package's folder.
import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { defineConfig } from 'tsup';
import { readManifest } from './src/workspace.ts';

const { bin = {}, exports = {}, private: isPrivate = false } = readManifest(process.cwd());
const commands = (typeof bin === 'string' ? [bin] : Object.values(bin)).map(
  (file) => `src/${basename(file, '.js')}.ts`,
);
/** Name of the built file → source. */
const libraries = Object.fromEntries(
  Object.values(exports).flatMap((entry) =>
    typeof entry === 'object' && entry.default !== undefined && entry['@pool/source'] !== undefined
      ? [[basename(entry.default, '.js'), entry['@pool/source']]]
      : [],
  ),
);
const others = [...commands, ...globSync('src/**/*-worker.ts')];

export default defineConfig({
  entry: {
    ...libraries,
    ...Object.fromEntries(others.map((source) => [basename(source, '.ts'), source])),
  },
  format: 'esm',
  target: 'node22',
  platform: 'node',
  // `node:sqlite` exists under that name only.
  removeNodeProtocol: false,
  tsconfig: '../../tsconfig.json',
  // Nobody outside of the repository compiles against a private package.
  dts: !isPrivate &&
    Object.keys(libraries).length > 0 && {
      entry: libraries,
      compilerOptions: {
        ...{ noEmit: false, declaration: true, emitDeclarationOnly: true },
        // Other packages as their users see them, built before: their sources would be compiled once more for each package.
        customConditions: [],
      },
    },
  splitting: true,
  sourcemap: true,
  clean: true,
});
