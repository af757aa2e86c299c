/**
 * The verification key that belongs to a proving key.
 *
 * @module
 */
import { ZKEY_POINT_BYTES, type ZkeyHeaderFields } from '@pool/kernels';
import { BASE_FIELD_ORDER } from '../field.ts';
import { invert } from '../modular.ts';
import type { G1Json, G2Json, VerificationKey } from '../verification-key.ts';
import { decodeScalar } from './scalars.ts';

const MONTGOMERY_INVERSE = invert((1n << 256n) % BASE_FIELD_ORDER, BASE_FIELD_ORDER);

/** Coordinate number `index` of an encoded point, as a decimal string. */
const readCoordinate = (point: Uint8Array, index: number): string =>
  String((decodeScalar(point, index) * MONTGOMERY_INVERSE) % BASE_FIELD_ORDER);

const toG1Json = (point: Uint8Array): G1Json => [
  readCoordinate(point, 0),
  readCoordinate(point, 1),
  '1',
];

const toG2Json = (point: Uint8Array): G2Json => [
  [readCoordinate(point, 0), readCoordinate(point, 1)],
  [readCoordinate(point, 2), readCoordinate(point, 3)],
  ['1', '0'],
];

/** @param ic the points of the constant and the public wires, as a key stores them */
export const exportVerificationKey = (
  header: ZkeyHeaderFields,
  ic: Uint8Array,
): VerificationKey => ({
  protocol: 'groth16',
  curve: 'bn128',
  nPublic: header.publicSignals,
  vk_alpha_1: toG1Json(header.alpha1),
  vk_beta_2: toG2Json(header.beta2),
  vk_gamma_2: toG2Json(header.gamma2),
  vk_delta_2: toG2Json(header.delta2),
  IC: Array.from({ length: header.publicSignals + 1 }, (_, i) =>
    toG1Json(ic.subarray(i * ZKEY_POINT_BYTES.g1, (i + 1) * ZKEY_POINT_BYTES.g1)),
  ),
});
