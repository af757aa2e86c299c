/**
 * Reads the verification key from a proving key, in the JSON form of snarkjs.
 *
 * @module
 */

import type { VerificationKey } from '@pool/kernels';
import type { G1Affine, G2Affine } from '../base/points.ts';
import { decodeG1, decodeG2, toG1Json, toG2Json } from '../base/points.ts';
import { openZkey } from './open-zkey.ts';
import type { Zkey } from './zkey.ts';
import { malformed, translate } from './zkey-errors.ts';

function finite<P extends G1Affine | G2Affine>(point: P): NonNullable<P> {
  if (point === undefined) {
    throw malformed(
      'A point of the verification key in the proving key is the point at infinity. Fetch or build the key again.',
    );
  }
  return point;
}

async function readFrom(zkey: Zkey): Promise<VerificationKey> {
  const { alpha1, beta2, gamma2, delta2, publicSignals } = zkey.header;
  const count = zkey.countPoints('ic');
  const ic = new Uint8Array(64 * count);
  await zkey.readPoints('ic', 0, count, ic);
  return {
    protocol: 'groth16',
    curve: 'bn128',
    nPublic: publicSignals,
    vk_alpha_1: toG1Json(finite(decodeG1(alpha1))),
    vk_beta_2: toG2Json(finite(decodeG2(beta2))),
    vk_gamma_2: toG2Json(finite(decodeG2(gamma2))),
    vk_delta_2: toG2Json(finite(decodeG2(delta2))),
    IC: Array.from({ length: count }, (_, i) => toG1Json(finite(decodeG1(ic, 64 * i)))),
  };
}

/**
 * Reads the verification key out of a proving key, as `snarkjs zkey export verificationkey` does.
 *
 * @example
 * const verificationKey = await readVerificationKey('multiplier.zkey');
 *
 * @param source - path of a proving key, or its bytes
 * @throws ProverError `zkey_malformed`; `proof_failed` if the file cannot be read; `memory_budget_exceeded`; `argument_invalid`
 */
export async function readVerificationKey(source: string | Uint8Array): Promise<VerificationKey> {
  const zkey = await openZkey(source);
  try {
    return await translate(readFrom(zkey));
  } finally {
    await zkey.close();
  }
}
