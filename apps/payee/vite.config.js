import { join } from 'node:path';
import { defaultClientConditions, defineConfig } from 'vite';
import { releasePlugin } from './build/release-plugin.ts';
import { sparePartsPlugin } from './build/spare-parts.ts';

const page = {
  rolldownOptions: {
    input: {
      index: 'index.html',
      sw: join(import.meta.dirname, 'src/release/service-worker.ts'),
    },
    output: {
      // A service worker keeps its address: browsers compare its bytes to find a new one.
      entryFileNames: ({ name }) => (name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js'),
    },
  },
};

// The page is built from the sources of the packages, needs no server of its own (`base`), and has nothing inline: its policy allows
// neither inline scripts nor `data:` addresses. The auditor's page is built by itself, beside it: `--mode audit`.
export default defineConfig(({ mode }) => ({
  base: './',
  resolve: { conditions: ['@pool/source', ...defaultClientConditions] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es', plugins: () => [sparePartsPlugin()] },
  plugins: [sparePartsPlugin(), releasePlugin()],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    ...(mode === 'audit' ? { emptyOutDir: false, rolldownOptions: { input: 'audit.html' } } : page),
  },
}));
