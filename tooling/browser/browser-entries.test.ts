// What a page imports bundles for a browser: a module that needs Node ends the build.
import { resolve } from 'node:path';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

it.each(['packages/platform-client/src/browser.ts'])('%s bundles for a browser', async (entry) => {
  const { errors, outputFiles } = await build({
    absWorkingDir: resolve(import.meta.dirname, '../..'),
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['@pool/source'],
    logLevel: 'silent',
  });
  expect(errors).toEqual([]);
  expect(outputFiles[0]?.text).not.toMatch(/\bBuffer\.(?:from|concat|alloc)/);
});
