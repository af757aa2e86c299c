// One file with everything that the signing enclave runs (docs/operations/enclave.md). Its SHA-256 is what an image is measured by, so it
// has no dependency that is installed later.
import { defineConfig } from 'tsup';

export default defineConfig({
  entry: { 'pool-enclave': 'src/pool-enclave.ts' },
  outDir: '../../.cache/enclave',
  format: 'esm',
  target: 'node22',
  platform: 'node',
  removeNodeProtocol: false,
  noExternal: [/.*/],
  splitting: false,
  minify: false,
  sourcemap: false,
  clean: true,
  outExtension: () => ({ js: '.mjs' }),
  esbuildOptions(options) {
    options.conditions = ['@pool/source', 'node', 'import'];
  },
  // Some dependencies are CommonJS and load Node's own modules with `require`.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
});
