import { defaultClientConditions, defineConfig } from 'vite';

// The page is built from the sources of the packages, needs no server of its own (`base`), and has nothing inline: its policy allows
// neither inline scripts nor `data:` addresses. The auditor's page is built by itself, beside it: `--mode audit`.
export default defineConfig(({ mode }) => ({
  base: './',
  resolve: { conditions: ['@pool/source', ...defaultClientConditions] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    ...(mode === 'audit' ? { emptyOutDir: false, rollupOptions: { input: 'audit.html' } } : {}),
  },
}));
