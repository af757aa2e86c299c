/**
 * Checks that a verification key belongs to a proving key: their points are equal.
 *
 * @module
 */

import type { VerificationKey } from '@pool/kernels';
import { decodeG1, decodeG2, toG1Json, toG2Json } from '../base/points.ts';
import type { ZkeyHeader } from '../zkey/zkey.ts';

function g1(bytes: Uint8Array, start = 0): string {
  const point = decodeG1(bytes, start);
  return point === undefined ? 'infinity' : JSON.stringify(toG1Json(point));
}

function g2(bytes: Uint8Array): string {
  const point = decodeG2(bytes);
  return point === undefined ? 'infinity' : JSON.stringify(toG2Json(point));
}

/** Strings in arrays of at most three levels, as in IC. The limit also stops cycles. */
function isNested(value: unknown, depth = 0): boolean {
  return (
    typeof value === 'string' ||
    (Array.isArray(value) && depth < 3 && value.every((item) => isNested(item, depth + 1)))
  );
}

/** Whether it has the fields of a verification key, with points as nested arrays of strings. The values are not checked. */
export function isVerificationKey(key: unknown): key is VerificationKey {
  if (typeof key !== 'object' || key === null) {
    return false;
  }
  const { nPublic, IC, vk_alpha_1, vk_beta_2, vk_gamma_2, vk_delta_2 } =
    key as Partial<VerificationKey>;
  const points = [IC, vk_alpha_1, vk_beta_2, vk_gamma_2, vk_delta_2];
  return (
    typeof nPublic === 'number' && points.every((part) => Array.isArray(part) && isNested(part))
  );
}

/** @param ic - the proving key's section of points for the public signals, in the encoding of the file */
export function matchesVerificationKey(
  header: ZkeyHeader,
  ic: Uint8Array,
  key: VerificationKey,
): boolean {
  return (
    key.nPublic === header.publicSignals &&
    key.IC.length === header.publicSignals + 1 &&
    JSON.stringify(key.vk_alpha_1) === g1(header.alpha1) &&
    JSON.stringify(key.vk_beta_2) === g2(header.beta2) &&
    JSON.stringify(key.vk_gamma_2) === g2(header.gamma2) &&
    JSON.stringify(key.vk_delta_2) === g2(header.delta2) &&
    key.IC.every((point, i) => JSON.stringify(point) === g1(ic, 64 * i))
  );
}
