// How every published package is built: ES modules for Node with their type declarations, from src/index.ts and from
// the source of each command the package installs (`bin`). Run from the package's folder.
import { basename } from 'node:path';
import { defineConfig } from 'tsup';
import { readManifest } from './src/workspace.ts';

const { bin = {} } = readManifest(process.cwd());
const commands = typeof bin === 'string' ? [bin] : Object.values(bin);

export default defineConfig({
  entry: ['src/index.ts', ...commands.map((file) => `src/${basename(file, '.js')}.ts`)],
  format: 'esm',
  target: 'node22',
  platform: 'node',
  tsconfig: '../../tsconfig.json',
  dts: { compilerOptions: { noEmit: false, declaration: true, emitDeclarationOnly: true } },
  splitting: true,
  sourcemap: true,
  clean: true,
});
