/**
 * BN254 arithmetic on all cores, and the formats of Groth16 keys.
 *
 * @module
 */

export type { Group, PointTable } from './curve/points.ts';
export { createKernels, type Kernels, type KernelsOptions, type ScanKernels } from './kernels.ts';
export { KernelsError } from './runtime/errors.ts';
export {
  areBelowOrder,
  baseFieldOrder,
  decodeInteger,
  encodeIntegers,
  scalarBytes,
  scalarFieldOrder,
} from './runtime/integers.ts';
export { moduleBeside } from './runtime/module-beside.ts';
export type { Rows, RowsInput } from './scalars/rows.ts';
export type { ScalarVector } from './scalars/scalars.ts';
export type { G1Json, G2Json, VerificationKey } from './zkey/verification-key.ts';
export {
  countZkeyCoefficients,
  readZkeyCoefficients,
  type ZkeyCoefficients,
} from './zkey/zkey-coefficients.ts';
export {
  encodeZkeyCoefficients,
  measureZkeyCoefficients,
} from './zkey/zkey-coefficients-encoding.ts';
export { convertZkey } from './zkey/zkey-convert.ts';
export { createDictionary } from './zkey/zkey-dictionary.ts';
export {
  type ByteSource,
  countZkeyPoints,
  createMemorySource,
  decodeZkeyHeader,
  encodeZkeyHeader,
  encodeZkeySectionHead,
  encodeZkeyStart,
  openFileSource,
  readSections,
  readZkeyTable,
  type ZkeyForm,
  ZkeyFormatError,
  type ZkeyHeaderFields,
  type ZkeyPointSection,
  type ZkeySectionPlace,
  type ZkeyTable,
  zkeyHeaderBytes,
  zkeyPointBytes,
  zkeySection,
} from './zkey/zkey-format.ts';
