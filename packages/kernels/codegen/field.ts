// A prime field for kernels: elements in memory, pairs of elements in locals, every operation with proved bounds.
// How to use it: README.md in this folder.
//
// An element in memory is 40 bytes: five doubles, limbs of weight 2^51k in Montgomery form (R of the multiplier), signed:
// |limb 0…3| <= 2^50, |value| <= 1.25·p. A value has several representations; `norm` makes it the one in
// [-p/2, p/2] (to within 2^-40·p), `canonical` the integer in [0, p).

export {
  add,
  double,
  isEqual,
  isZero,
  isZeroNormal,
  mayBeZero,
  mul,
  mulSum,
  neg,
  norm,
  sqr,
  sub,
} from './field-arithmetic.ts';
export { loadBytes, storeBytes } from './field-bytes.ts';
export {
  assign,
  constant,
  elementBytes,
  load,
  loadPair,
  pairBytes,
  select,
  store,
  storePair,
} from './field-memory.ts';
export { createField, drop, type Field, type Multiplier } from './field-parameters.ts';
