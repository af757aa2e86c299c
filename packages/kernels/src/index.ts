/**
 * BN254 arithmetic on all cores, and the formats of Groth16 keys.
 *
 * @module
 */

export type { Group, PointTable } from './curve/points.ts';
export { type CurvePoint, createDirectKernels, type DirectKernels } from './direct-kernels.ts';
export { type Image, type ImageShape, imageChunkBytes } from './images.ts';
export {
  createKernels,
  type Kernels,
  type ProvingKernels,
} from './kernels.ts';
export { measureMultiplications } from './multiplication-rate.ts';
export { KernelsError } from './runtime/errors.ts';
export {
  areBelowOrder,
  baseFieldOrder,
  decodeInteger,
  decodeIntegers,
  encodeIntegers,
  scalarBytes,
  scalarFieldOrder,
} from './runtime/integers.ts';
export type { KernelsOptions } from './runtime/kernel-options.ts';
export { findBuiltin, moduleBeside } from './runtime/module-beside.ts';
export type { TaskOptions } from './runtime/runtime.ts';
export {
  canShareMemory,
  nextTurn,
  serveThread,
  startThread,
  type Thread,
  type ThreadProgram,
  type WebWorker,
  type WebWorkerConstructor,
} from './runtime/thread-port.ts';
export type { Rows, RowsInput } from './scalars/rows.ts';
export type { ScalarVector } from './scalars/scalars.ts';
export type { PoseidonConstants } from './scan/poseidon.ts';
export { createScanKernels, type OpenScanKernels, type ScanKernels } from './scan-kernels.ts';
export { createProvingKernels } from './split/split-kernels.ts';
export {
  countZkeyCoefficients,
  createDictionary,
  readZkeyCoefficients,
  type ZkeyCoefficients,
} from './zkey/zkey-coefficients.ts';
export {
  convertZkey,
  encodeZkeyCoefficients,
  measureZkeyCoefficients,
} from './zkey/zkey-coefficients-encoding.ts';
export {
  type ByteSource,
  countZkeyPoints,
  createMemorySource,
  decodeZkeyHeader,
  encodeZkeyHeader,
  encodeZkeySectionHead,
  encodeZkeyStart,
  headerPoints,
  measureZkeyPoints,
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
  zkeyPointGroups,
  zkeySection,
} from './zkey/zkey-format.ts';
export {
  decodeCoordinates,
  type ExportedVerificationKey,
  encodeCoordinates,
  findInvalidPoint,
  type G1Json,
  type G2Json,
  isSameVerificationKey,
  toExportedVerificationKey,
  toVerificationKey,
  type VerificationKey,
} from './zkey/zkey-points.ts';
