// The modules: the same kernels once for each multiplier. Kernels of other rooms are added to `writeKernels`.

import { writeBabyJubjub } from './babyjubjub.ts';
import { BASE_MODULUS, SCALAR_MODULUS } from './constants.ts';
import { createField, type Multiplier } from './field.ts';
import { writeFieldFunctions } from './field-functions.ts';
import { writePoseidon } from './poseidon.ts';
import { createModule } from './wat.ts';

export const writeKernels = (multiplier: Multiplier): string => {
  const module = createModule();
  const base = createField(module, 'q', BASE_MODULUS, multiplier);
  const scalar = createField(module, 'r', SCALAR_MODULUS, multiplier);
  writeFieldFunctions(module, base);
  writeFieldFunctions(module, scalar);
  writeBabyJubjub(module, scalar);
  writePoseidon(module, scalar);
  return module.text();
};
