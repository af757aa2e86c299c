// Generates the WebAssembly kernels (src/generated/wasm.ts) unless they are up to date. Run by `pnpm install`.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { computeSourceDigest, GENERATED_FILE, generateSource } from '../codegen/assemble.ts';

const isCurrent = (): boolean =>
  existsSync(GENERATED_FILE) &&
  readFileSync(GENERATED_FILE, 'utf8').includes(`'${computeSourceDigest()}'`);

if (!isCurrent()) {
  const started = performance.now();
  mkdirSync(dirname(GENERATED_FILE), { recursive: true });
  // Written beside and renamed: a process that loads the kernels meanwhile never sees half a file.
  const unfinished = `${GENERATED_FILE}.${process.pid}`;
  writeFileSync(unfinished, generateSource());
  renameSync(unfinished, GENERATED_FILE);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(`WebAssembly kernels written in ${seconds} s\n`);
}
