// A prime field for kernels: elements in memory, pairs of elements in locals, every operation with proved bounds.
// How to use it: README.md in this folder.
//
// An element in memory is 40 bytes: five doubles, limbs of weight 2^51k in Montgomery form (R of the multiplier), signed:
// |limb 0…3| <= 2^50 + 8, |value| <= 1.25·p. A value has several representations; `norm` makes it the one in
// [-p/2, p/2] (to within 2^-40·p), `canonical` the integer in [0, p).

import {
  isEqual,
  isZero,
  isZeroNormal,
  mayBeZero,
  mul,
  mulDense,
  mulSum,
  norm,
  sqr,
} from './field-arithmetic.ts';
import {
  constant,
  load,
  loadBytes,
  loadPair,
  store,
  storeBytes,
  storePair,
} from './field-memory.ts';
import { createConstants, type FieldConstants, type Multiplier } from './field-parameters.ts';
import type { FunctionWriter, ModuleWriter } from './wat.ts';

export { add, double, neg, sub } from './field-arithmetic.ts';
export { assign, elementBytes, pairBytes, select, swapLanes } from './field-memory.ts';
export { drop, type Multiplier } from './field-parameters.ts';

const operations = {
  ...{ mul, mulDense, mulSum, sqr, norm, isEqual, isZero, isZeroNormal, mayBeZero },
  ...{ load, store, loadPair, storePair, loadBytes, storeBytes, constant },
};
type Operations = typeof operations;
type Bound<F> = F extends (f: FunctionWriter, field: FieldConstants, ...rest: infer Args) => infer R
  ? (f: FunctionWriter, ...rest: Args) => R
  : never;

/** A field with the operations on its elements. */
export type Field = FieldConstants & {
  readonly [Name in keyof Operations]: Bound<Operations[Name]>;
};

/** Creates a field, and writes the functions its multiplier needs into the module. */
export function createField(
  module: ModuleWriter,
  name: string,
  modulus: bigint,
  multiplier: Multiplier,
): Field {
  const field = createConstants(module, name, modulus, multiplier);
  const bound = Object.entries(operations).map(([operation, work]) => [
    operation,
    (f: FunctionWriter, ...rest: never[]) =>
      (work as (f: FunctionWriter, k: FieldConstants, ...rest: never[]) => unknown)(
        f,
        field,
        ...rest,
      ),
  ]);
  return { ...field, ...(Object.fromEntries(bound) as Pick<Field, keyof Operations>) };
}
