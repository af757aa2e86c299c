// Converts WebAssembly text into the TypeScript files from which the package loads its kernels.

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

// The modules: the same kernels once for each multiplier, in two sets, because a page that reads notes does not prove.

function writeProvingKernels(multiplier: Multiplier): string {
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
  writeTransforms(module, scalar);
  writeRows(module, scalar);
  writeSetup(module, scalar);
  return module.text();
}

function writeScanKernels(multiplier: Multiplier): string {
  const module = createModule();
  const scalar = createField(module, 'r', scalarModulus, multiplier);
  writeFieldFunctions(module, scalar);
  writeBabyJubjub(module, scalar);
  writePoseidon(module, scalar);
  return module.text();
}

const folder = fileURLToPath(new URL('.', import.meta.url));

/** Where the kernels are written to. */
export const generatedFolder = fileURLToPath(new URL('../src/generated/', import.meta.url));
/** Contains the digest of the sources, and is written last. */
export const digestFile = 'digest.ts';

/** SHA-256 of every source of the kernels. The generated files are up to date if they contain it. */
export function computeSourceDigest(): string {
  const hash = createHash('sha256');
  const files = globSync('**/*.ts', { cwd: folder }).filter((file) => !file.endsWith('.test.ts'));
  for (const file of files.sort()) {
    hash.update(`${file}\n`).update(readFileSync(new URL(file, import.meta.url)));
  }
  return hash.digest('hex');
}

/**
 * Parses, checks and encodes a module. Throws when it is not valid WebAssembly.
 * @param passes - of binaryen. None that could change the steps that a kernel takes
 */
function assemble(text: string, passes: readonly string[] = []): Uint8Array {
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
    module.runPasses([...passes]);
    return module.emitBinary();
  } finally {
    module.dispose();
  }
}

/** What every page loads: locals that are not used at once share a place, which makes it a sixth smaller. */
const smallModule = 'scan-integer';

/** The generated files by name. One module each, so that a page loads only those that it runs. */
export function generateSources(): ReadonlyMap<string, string> {
  const sets = { proving: writeProvingKernels, scan: writeScanKernels };
  const texts = Object.entries(sets).flatMap(([set, write]) =>
    (['float', 'integer'] as const).map((multiplier) => [
      `${set}-${multiplier}`,
      write(multiplier),
    ]),
  );
  // Hexadecimal text is compressed to two thirds of what base64 is: the bytes keep their places.
  const files = [['probe', writeProbe()], ...texts].map(
    ([name = '', text = '']): [string, string] => {
      const bytes = assemble(text, name === smallModule ? ['coalesce-locals'] : []);
      const code = Buffer.from(bytes).toString('hex');
      return [`${name}.ts`, `/** In hex. */\nexport const code = '${code}';\n`];
    },
  );
  const digest = `/** SHA-256 of codegen/. */\nexport const sourceDigest = '${computeSourceDigest()}';\n`;
  return new Map(
    [...files, [digestFile, digest]].map(([name = '', text = '']) => [
      name,
      `// Written by scripts/build-wasm.ts; not committed.\n${text}`,
    ]),
  );
}
