/**
 * Poseidon over BN254 with three state elements, circomlib's parameters (protocol §1): x^5, 8 full and
 * 57 partial rounds, constants and matrix from the Grain LFSR of the Poseidon paper (appendix E).
 * The digest of these numbers is checked against independent implementations in `poseidon.test.ts`.
 */
import { Field } from '@noble/curves/abstract/modular.js';
import { grainGenConstants } from '@noble/curves/abstract/poseidon.js';
import { fieldModulus } from '@pool/core';

const width = 3;
export const fullRounds = 8;
export const partialRounds = 57;

export const scalarField = Field(fieldModulus);

export interface PoseidonParameters {
  /** roundConstants[round][element], added before the S-boxes of the round. */
  readonly roundConstants: readonly (readonly bigint[])[];
  /** matrix[row][column], applied after the S-boxes of the round. */
  readonly matrix: readonly (readonly bigint[])[];
}

/** Round constants and matrix of the width-3 permutation. */
export function computeParameters(): PoseidonParameters {
  const { roundConstants, mds } = grainGenConstants({
    Fp: scalarField,
    t: width,
    roundsFull: fullRounds,
    roundsPartial: partialRounds,
  });
  return { roundConstants, matrix: mds };
}
