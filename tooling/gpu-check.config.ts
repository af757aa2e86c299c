// One file of everything in gpu-check.ts and one for each kind of thread, with Dawn's build for this platform beside it: .cache/gpu-check requires Node only.
import { cpSync, mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'tsup';

const out = '.cache/gpu-check';

export default defineConfig({
  entry: {
    'gpu-check': 'scripts/gpu-check.ts',
    'kernel-worker': '../kernels/src/runtime/kernel-worker.ts',
    'witness-worker': 'src/witness/witness-worker.ts',
    'assemble-proof-worker': 'src/proof/assemble-proof-worker.ts',
  },
  outDir: out,
  format: 'esm',
  target: 'node22',
  platform: 'node',
  removeNodeProtocol: false,
  tsconfig: '../../tsconfig.json',
  noExternal: [/^@noble\//, /^@pool\//],
  // From source, like everything else in this repository, so no package must be built before.
  esbuildOptions: (options) => {
    options.conditions = ['@pool/source', 'import', 'node'];
  },
  splitting: false,
  clean: true,
  onSuccess: () => {
    const from = realpathSync('node_modules/webgpu');
    const to = join(out, 'node_modules/webgpu');
    const platform = join('dist', `${process.platform}-${process.arch}`);
    mkdirSync(to, { recursive: true });
    for (const name of ['package.json', 'index.js', 'LICENSE.md', platform]) {
      cpSync(join(from, name), join(to, name), { recursive: true });
    }
    return Promise.resolve();
  },
});
