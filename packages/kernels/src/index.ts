/**
 * BN254 arithmetic on all cores, and the format of proving keys.
 *
 * @module
 */
export {
  type CoefficientLimits,
  countZkeyCoefficients,
  encodeZkeyCoefficients,
  measureZkeyCoefficients,
  readZkeyCoefficients,
  type ZkeyCoefficients,
} from './zkey-coefficients.ts';
export { convertZkey } from './zkey-convert.ts';
export {
  type ByteSource,
  createMemorySource,
  decodeZkeyHeader,
  encodeZkeyHeader,
  encodeZkeySectionHead,
  encodeZkeyStart,
  readZkeyTable,
  ZKEY_HEADER_BYTES,
  ZKEY_POINT_BYTES,
  ZKEY_SECTION,
  type ZkeyForm,
  ZkeyFormatError,
  type ZkeyHeaderFields,
  type ZkeySectionPlace,
  type ZkeyTable,
} from './zkey-format.ts';
