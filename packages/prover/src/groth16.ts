/**
 * The shapes of Groth16 over BN254 as snarkjs writes them: coordinates and public signals are decimal strings.
 *
 * @module
 */

/** Affine G1 point [x, y, "1"]. */
export type G1Json = readonly [string, string, string];
/** Affine G2 point [[x0, x1], [y0, y1], ["1", "0"]]; x = x0 + x1 i. */
export type G2Json = readonly [
  readonly [string, string],
  readonly [string, string],
  readonly [string, string],
];

/** Public. */
export type Groth16Proof = {
  readonly pi_a: G1Json;
  readonly pi_b: G2Json;
  readonly pi_c: G1Json;
  readonly protocol: 'groth16';
  readonly curve: 'bn128';
};

/** Public. `IC` has one point more than there are public signals. */
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

/** A proof with the public signals it is about, decimal strings in the circuit's order. */
export type ProofResult = {
  readonly proof: Groth16Proof;
  readonly publicSignals: readonly string[];
};
