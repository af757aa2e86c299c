/**
 * The verification key that belongs to a proving key.
 *
 * @module
 */

import type { G1Json, G2Json, VerificationKey } from '@pool/kernels';
import { baseFieldOrder, type ZkeyHeaderFields, zkeyPointBytes } from '@pool/kernels';
import { invert } from '../constraints/modular.ts';
import { decodeScalar } from './scalars.ts';

const montgomeryInverse = invert((1n << 256n) % baseFieldOrder, baseFieldOrder);

/** Coordinate number `index` of an encoded point, as a decimal string. */
function readCoordinate(point: Uint8Array, index: number): string {
  return String((decodeScalar(point, index) * montgomeryInverse) % baseFieldOrder);
}

function toG1Json(point: Uint8Array): G1Json {
  return [readCoordinate(point, 0), readCoordinate(point, 1), '1'];
}

function toG2Json(point: Uint8Array): G2Json {
  return [
    [readCoordinate(point, 0), readCoordinate(point, 1)],
    [readCoordinate(point, 2), readCoordinate(point, 3)],
    ['1', '0'],
  ];
}

/** @param ic the points of the constant and the public wires, as a key stores them */
export function exportVerificationKey(header: ZkeyHeaderFields, ic: Uint8Array): VerificationKey {
  return {
    protocol: 'groth16',
    curve: 'bn128',
    nPublic: header.publicSignals,
    vk_alpha_1: toG1Json(header.alpha1),
    vk_beta_2: toG2Json(header.beta2),
    vk_gamma_2: toG2Json(header.gamma2),
    vk_delta_2: toG2Json(header.delta2),
    IC: Array.from({ length: header.publicSignals + 1 }, (_, i) =>
      toG1Json(ic.subarray(i * zkeyPointBytes.g1, (i + 1) * zkeyPointBytes.g1)),
    ),
  };
}
