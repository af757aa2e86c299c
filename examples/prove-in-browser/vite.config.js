import { defineConfig } from 'vite';

// With these headers the page may share memory between threads. Without them each of its workers has its own memory, which is slower.
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export default defineConfig({
  base: './',
  server: { headers },
  preview: { headers },
  // Prebundling of `vite dev` would move the modules away from the files of their threads.
  optimizeDeps: { exclude: ['@pool/prover', '@pool/kernels'] },
  worker: { format: 'es' },
});
