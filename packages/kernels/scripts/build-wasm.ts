// Generates the WebAssembly kernels (src/generated) unless they are up to date. Run by `pnpm install`.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  computeSourceDigest,
  digestFile,
  generatedFolder,
  generateSources,
} from '../codegen/assemble.ts';

function isCurrent(): boolean {
  const file = join(generatedFolder, digestFile);
  return existsSync(file) && readFileSync(file, 'utf8').includes(`'${computeSourceDigest()}'`);
}

if (!isCurrent()) {
  const started = performance.now();
  mkdirSync(generatedFolder, { recursive: true });
  for (const [name, source] of generateSources()) {
    const file = join(generatedFolder, name);
    // Written to a temporary file and renamed: a process that loads the kernels meanwhile never reads an incomplete file.
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, source);
    renameSync(unfinished, file);
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(`WebAssembly kernels written in ${seconds} s\n`);
}
