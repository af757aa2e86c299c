// Generates the WebAssembly kernels (src/generated/wasm.ts) unless they are up to date. Run by `pnpm install`.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { computeSourceDigest, generatedFile, generateSource } from '../codegen/assemble.ts';

function isCurrent(): boolean {
  return (
    existsSync(generatedFile) &&
    readFileSync(generatedFile, 'utf8').includes(`'${computeSourceDigest()}'`)
  );
}

if (!isCurrent()) {
  const started = performance.now();
  mkdirSync(dirname(generatedFile), { recursive: true });
  // Written to a temporary file and renamed: a process that loads the kernels meanwhile never reads an incomplete file.
  const unfinished = `${generatedFile}.${process.pid}`;
  writeFileSync(unfinished, generateSource());
  renameSync(unfinished, generatedFile);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(`WebAssembly kernels written in ${seconds} s\n`);
}
