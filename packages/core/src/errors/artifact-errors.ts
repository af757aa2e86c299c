/**
 * Codes of circuits, their keys and the ceremony.
 *
 * @module
 */
import type { ErrorEntries } from './error-entry.ts';

export const artifactErrors = {
  unknown_circuit: { meaning: 'There is no circuit of that name.' },
  invalid_circuit_input: { meaning: 'The inputs do not fit the signals of the circuit.' },
  artifact_missing: { meaning: 'A file of a circuit or key is not there.' },
  artifact_refused: {
    status: 500,
    meaning: 'A file of a circuit or key is not the one that the manifest pins.',
  },
  artifact_unavailable: {
    retry: true,
    meaning: 'A file of a circuit or key could not be fetched.',
  },
  artifacts_digest_mismatch: {
    status: 500,
    meaning: 'The manifest of artifacts is not the one whose digest is configured.',
  },
  artifacts_manifest_malformed: { meaning: 'The manifest of artifacts cannot be read.' },
  circuit_not_pinned: { status: 500, meaning: 'The manifest does not pin the circuit.' },
  insecure_dev_setup: {
    status: 500,
    meaning: 'Keys of the development setup are refused in production.',
  },
  compile_failed: { meaning: 'The circuit does not compile.' },
  compiler_missing: { meaning: 'The circuit compiler is not installed.' },
  r1cs_malformed: { meaning: 'The constraint system cannot be read.' },
  witness_malformed: { meaning: 'The witness program cannot be read.' },
  zkey_malformed: { meaning: 'The proving key cannot be used.' },
  ptau_malformed: { meaning: 'The powers-of-tau file cannot be used.' },
  ptau_not_prepared: { meaning: 'The powers-of-tau file has no Lagrange basis.' },
  ptau_too_small: { meaning: 'The powers-of-tau file is too small for the circuit.' },
  ptau_digest_mismatch: { meaning: 'The powers-of-tau file is not the one with the given digest.' },
  ptau_inconsistent: { meaning: 'The powers in the powers-of-tau file do not belong together.' },
  ptau_contribution_invalid: { meaning: 'A contribution to the powers of tau does not verify.' },
  ptau_no_secret_contribution: { meaning: 'Nobody contributed a secret to the powers of tau.' },
  no_contribution: {
    status: 500,
    meaning: 'Nobody contributed to the key, so anybody can forge proofs under it.',
  },
  no_secret_contribution: {
    status: 500,
    meaning: 'Only a beacon contributed to the key, so anybody can forge proofs under it.',
  },
  ceremony_closed: { meaning: 'The key holds a beacon, so nothing may follow.' },
  beacon_invalid: { meaning: 'The beacon is malformed or does not match the contribution.' },
  beacon_not_last: { meaning: 'A contribution follows the beacon.' },
  beacon_mismatch: {
    meaning: 'The factor of a beacon does not follow from the beacon that it names.',
  },
  contribution_point_invalid: { meaning: 'A point of a contribution is not in its group.' },
  contribution_transcript_mismatch: {
    meaning: 'A contribution does not continue the transcript before it.',
  },
  contribution_proof_invalid: {
    meaning: 'A contribution does not prove that its factor was known.',
  },
  contribution_delta_mismatch: {
    meaning: 'A contribution did not multiply delta by its own factor.',
  },
  contribution_trivial: {
    meaning: 'The factor of a contribution is 1 or -1, which everybody can see.',
  },
  entropy_missing: { meaning: 'No entropy was given for the contribution.' },
  contribution_name_invalid: {
    meaning: 'The name of a contribution is 1 to 64 printable characters.',
  },
  contract_name_invalid: { meaning: 'The name of the verifier contract is not an identifier.' },
  verifier_shape_unsupported: {
    meaning: 'The verifier contract takes another number of public inputs.',
  },
  circuit_mismatch: { meaning: 'The key is of another circuit.' },
  circuit_hash_mismatch: { meaning: 'The contributions are about another circuit.' },
  coefficients_mismatch: { meaning: 'The coefficients of the key are not those of the circuit.' },
  powers_mismatch: { meaning: 'The key was not made from these powers of tau.' },
  a_points_mismatch: { meaning: 'The A points of the key are not those of the circuit.' },
  b1_points_mismatch: { meaning: 'The B points in G1 of the key are not those of the circuit.' },
  b2_points_mismatch: { meaning: 'The B points in G2 of the key are not those of the circuit.' },
  public_points_mismatch: { meaning: 'The public points of the key are not those of the circuit.' },
  private_points_mismatch: {
    meaning: 'The private points of the key are not those of the circuit.',
  },
  quotient_points_mismatch: {
    meaning: 'The quotient points of the key are not those of the circuit.',
  },
  delta_trivial: { meaning: 'The delta of the key is one.' },
  delta_invalid: { meaning: 'A contribution to delta does not verify.' },
  delta_mismatch: { meaning: 'The delta of the key is not that of its last contribution.' },
  delta_pair_mismatch: { meaning: 'The delta points of both groups hold different values.' },
  key_pair_mismatch: {
    status: 500,
    meaning: 'The verification key belongs to another proving key.',
  },
  file_missing: { meaning: 'There is no file at the path.' },
  file_exists: { meaning: 'There is a file at the path, and it is not overwritten.' },
} as const satisfies ErrorEntries;
