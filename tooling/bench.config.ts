// The programs that the prover benchmark measures, as plain JavaScript beside node_modules: so that neither prover includes Node's
// type stripping, and ours is the built package that its users install.
import { basename } from 'node:path';
import { defineConfig } from 'tsup';

const names = ['run-ours', 'run-snarkjs', 'run-witness', 'run-phases'];
const programs = names.map((name) => `bench/prover/${name}.ts`);

export default defineConfig({
  entry: Object.fromEntries(programs.map((program) => [basename(program, '.ts'), program])),
  outDir: 'dist/bench',
  format: 'esm',
  target: 'node22',
  platform: 'node',
  tsconfig: '../tsconfig.json',
  external: [/^@pool\//, 'snarkjs'],
  splitting: false,
  clean: true,
});
