/**
 * BN254 arithmetic on all cores, and the formats of Groth16 keys.
 *
 * @module
 */

export type { PackedProducts } from './babyjubjub.ts';
export { KernelsError, type KernelsErrorCode } from './errors.ts';
export { baseFieldOrder, scalarFieldOrder } from './field-orders.ts';
export type { Group } from './groups.ts';
export { createKernels, type Kernels, type KernelsOptions } from './kernels.ts';
export { moduleBeside } from './module-beside.ts';
export type { PointTable } from './points.ts';
export type { PoseidonConstants } from './poseidon.ts';
export type { Rows, RowsInput } from './rows.ts';
export type { TaskOptions } from './runtime.ts';
export type { ScalarVector } from './scalars.ts';
export type { OpenedBoxes, SealedBoxes } from './scan.ts';
export type { ScanKernels } from './scan-kernels.ts';
export type { G1Json, G2Json, VerificationKey } from './verification-key.ts';
export type { Multiplier } from './wasm-module.ts';
export {
  type CoefficientLimits,
  countZkeyCoefficients,
  readZkeyCoefficients,
  type ZkeyCoefficients,
} from './zkey-coefficients.ts';
export { encodeZkeyCoefficients, measureZkeyCoefficients } from './zkey-coefficients-encoding.ts';
export { convertZkey } from './zkey-convert.ts';
export {
  type ByteSource,
  createMemorySource,
  decodeZkeyHeader,
  encodeZkeyHeader,
  encodeZkeySectionHead,
  encodeZkeyStart,
  readZkeyTable,
  type ZkeyForm,
  ZkeyFormatError,
  type ZkeyHeaderFields,
  type ZkeySectionPlace,
  type ZkeyTable,
  zkeyHeaderBytes,
  zkeyPointBytes,
  zkeySection,
} from './zkey-format.ts';
