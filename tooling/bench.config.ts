// The program that the prover benchmark measures, as plain JavaScript beside node_modules: so that neither prover includes Node's
// type stripping, and ours is the built package that its users install.
import { defineConfig } from 'tsup';

export default defineConfig({
  entry: { run: 'bench/prover/run.ts' },
  outDir: 'dist/bench',
  format: 'esm',
  target: 'node22',
  platform: 'node',
  tsconfig: '../tsconfig.json',
  external: [/^@pool\//, 'snarkjs'],
  splitting: false,
  clean: true,
});
