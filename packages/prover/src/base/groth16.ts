/**
 * The data types of Groth16 (J. Groth, EUROCRYPT 2016, eprint 2016/260) over BN254 in the form of snarkjs: coordinates and
 * public signals are decimal strings.
 *
 * @module
 */
import type { G1Json, G2Json } from '@pool/kernels';

/** Public. */
export type Groth16Proof = {
  readonly pi_a: G1Json;
  readonly pi_b: G2Json;
  readonly pi_c: G1Json;
  readonly protocol: 'groth16';
  readonly curve: 'bn128';
};

/** A proof with its public signals, decimal strings in the circuit's order. */
export type ProofResult = {
  readonly proof: Groth16Proof;
  readonly publicSignals: readonly string[];
};
