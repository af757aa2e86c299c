// Converts WebAssembly text into the TypeScript file from which the package loads its kernels.

import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import binaryen from 'binaryen';
import { writeAddPairs } from './add-pairs.ts';
import { writeBabyJubjub } from './babyjubjub.ts';
import { baseModulus, scalarModulus } from './constants.ts';
import { createField, type Multiplier } from './field.ts';
import { writeFieldFunctions } from './field-functions.ts';
import { writeFixedBase } from './fixed-base.ts';
import { createG1Coordinates, createG2Coordinates } from './fp2.ts';
import { writeGcdInversion } from './invert-gcd.ts';
import { writeMsm, writeMsmOf } from './msm.ts';
import { writeMultiples } from './multiples.ts';
import { writeTransforms } from './ntt.ts';
import { writePoseidon } from './poseidon.ts';
import { writeRows, writeSetup } from './rows.ts';
import { createModule } from './wat.ts';

// A module that shows whether relaxed_madd rounds once (a fused multiply-add): engines may also round twice, and then the
// float multiplier would give wrong results.

/** Exports `probe() -> i32`: 1 when the multiply-add is fused. Imports nothing. */
function writeProbe(): string {
  // (1 + 2^-40)² = 1 + 2^-39 + 2^-80: the last term is lost by two roundings.
  const x = `(f64x2.splat (f64.const ${1 + 2 ** -40}))`;
  const c = `(f64x2.splat (f64.const ${-(1 + 2 ** -39)}))`;
  const sum = `(f64x2.relaxed_madd ${x} ${x} ${c})`;
  const equal = (lane: number): string =>
    `(f64.eq (f64x2.extract_lane ${lane} (local.get $sum)) (f64.const ${2 ** -80}))`;
  return `(module (func (export "probe") (result i32) (local $sum v128)
    (local.set $sum ${sum}) (i32.and ${equal(0)} ${equal(1)})))`;
}

// The modules: the same kernels once for each multiplier. Further kernels are added to `writeKernels`.

function writeKernels(multiplier: Multiplier): string {
  const module = createModule();
  const base = createField(module, 'q', baseModulus, multiplier);
  const scalar = createField(module, 'r', scalarModulus, multiplier);
  writeFieldFunctions(module, base);
  writeGcdInversion(module, base);
  writeFieldFunctions(module, scalar);
  writeMsm(module);
  const curves = { g1: createG1Coordinates(base), g2: createG2Coordinates(base) };
  for (const [name, coordinates] of Object.entries(curves)) {
    writeAddPairs(module, name, coordinates);
    writeMsmOf(module, name, coordinates);
    writeMultiples(module, name, coordinates);
  }
  writeFixedBase(module, curves);
  writeBabyJubjub(module, scalar);
  writePoseidon(module, scalar);
  writeTransforms(module, scalar);
  writeRows(module, scalar);
  writeSetup(module, scalar);
  return module.text();
}

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
