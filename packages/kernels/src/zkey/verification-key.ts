/**
 * A Groth16 verification key over BN254 in the JSON shape that snarkjs writes and reads.
 *
 * @module
 */

/** Affine G1 point [x, y, "1"], decimal strings. */
export type G1Json = readonly [string, string, string];
/** Affine G2 point [[x0, x1], [y0, y1], ["1", "0"]], decimal strings; x = x0 + x1 i. */
export type G2Json = readonly [
  readonly [string, string],
  readonly [string, string],
  readonly [string, string],
];

/** Public. `IC` holds one point for the constant and one for each public signal, in their order. */
export type VerificationKey = {
  readonly protocol: 'groth16';
  readonly curve: 'bn128';
  readonly nPublic: number;
  readonly vk_alpha_1: G1Json;
  readonly vk_beta_2: G2Json;
  readonly vk_gamma_2: G2Json;
  readonly vk_delta_2: G2Json;
  readonly IC: readonly G1Json[];
};
