// Bundles a page with the prover as an application does with esbuild: the programs of the threads are entry points of their own, and lie
// beside the page's module.
import { copyFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '../..');

/** @param page - the page's module, from the root of the repository */
export async function bundlePage(page: string, folder: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: {
      page,
      'kernel-worker': 'packages/kernels/src/runtime/kernel-worker.ts',
      'split-worker': 'packages/kernels/src/split/split-worker.ts',
      'witness-worker': 'packages/prover/src/witness/witness-worker.ts',
      'assemble-proof-worker': 'packages/prover/src/proof/assemble-proof-worker.ts',
      'verify-worker': 'packages/prover/src/proof/verify-worker.ts',
    },
    outdir: folder,
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['@pool/source'],
    logLevel: 'error',
  });
  await copyFile(join(root, 'tooling/browser/index.html'), join(folder, 'index.html'));
}
