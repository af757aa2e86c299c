/**
 * The verification key that belongs to a proving key.
 *
 * @module
 */
import {
  type G1Json,
  type G2Json,
  type VerificationKey,
  type ZkeyHeaderFields,
  zkeyPointBytes,
} from '@pool/kernels';
import { decodeCoordinates } from './points.ts';

function toG1Json(point: Uint8Array): G1Json {
  const [x, y] = decodeCoordinates(point).map(String);
  return [x ?? '', y ?? '', '1'];
}

function toG2Json(point: Uint8Array): G2Json {
  const [a = '', b = '', c = '', d = ''] = decodeCoordinates(point).map(String);
  return [
    [a, b],
    [c, d],
    ['1', '0'],
  ];
}

/** @param ic the points of the constant and the public wires, as a key stores them */
export function toVerificationKey(header: ZkeyHeaderFields, ic: Uint8Array): VerificationKey {
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
