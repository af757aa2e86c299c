// Converts WebAssembly text into the TypeScript file from which the package loads its kernels.

import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import binaryen from 'binaryen';
import { writeKernels } from './kernels.ts';
import { writeProbe } from './probe.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));

/** Path of the written kernels. */
export const generatedFile = fileURLToPath(new URL('../src/generated/wasm.ts', import.meta.url));

/** SHA-256 of every source of the kernels. The generated file contains it and is up to date if both are equal. */
export function computeSourceDigest(): string {
  const hash = createHash('sha256');
  const files = globSync('**/*.ts', { cwd: folder }).filter((file) => !file.endsWith('.test.ts'));
  for (const file of files.sort()) {
    hash.update(`${file}\n`).update(readFileSync(new URL(file, import.meta.url)));
  }
  return hash.digest('hex');
}

/** Parses, checks and encodes a module. Throws when it is not valid WebAssembly. */
function assemble(text: string): Uint8Array {
  const { Features } = binaryen;
  const module = binaryen.parseText(text);
  try {
    module.setFeatures(
      Features.Atomics |
        Features.MutableGlobals |
        Features.NontrappingFPToInt |
        Features.SIMD128 |
        Features.RelaxedSIMD |
        Features.BulkMemory |
        Features.BulkMemoryOpt |
        Features.BulkMemoryOpt |
        Features.SignExt |
        Features.Multivalue,
    );
    if (module.validate() === 0) throw new Error('the generated module is not valid');
    return module.emitBinary();
  } finally {
    module.dispose();
  }
}

/** The source of the generated file. */
export function generateSource(): string {
  const encode = (text: string): string => Buffer.from(assemble(text)).toString('base64');
  return `// Written by scripts/build-wasm.ts; not committed.
/** SHA-256 of codegen/. */
export const sourceDigest = '${computeSourceDigest()}';
/** The modules, in base64. */
export const WASM = {
  float: '${encode(writeKernels('float'))}',
  integer: '${encode(writeKernels('integer'))}',
  probe: '${encode(writeProbe())}',
};
`;
}
