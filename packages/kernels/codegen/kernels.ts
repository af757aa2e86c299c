// The modules: the same kernels once for each multiplier. Further kernels are added to `writeKernels`.

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
import { writeRows } from './rows.ts';
import { writeSetup } from './setup.ts';
import { createModule } from './wat.ts';

export function writeKernels(multiplier: Multiplier): string {
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
